"""Tests of types, unchanged values and local days of releases, in files of the command and in frames."""

import datetime as dt
import decimal
import json
import os
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import scumble

COMMAND = os.environ.get("SCUMBLE_COMMAND")
needs_command = pytest.mark.skipif(COMMAND is None, reason="SCUMBLE_COMMAND names no command")

SCHEMA = {
    "whole": range(0, 101),
    "size": (0.0, 100_000.0),
    "flag": bool,
    "day": (dt.date(2020, 1, 1), dt.date(2024, 12, 31)),
    "rank": [1, 2, 3],
    "town": ["Oslo", "Rome", "São Paulo"],
}
ROWS = 400


def table(whole=pa.int64(), size=pa.float64(), day=pa.date32(), rank=pa.int64(), town=pa.string()) -> pa.Table:
    """Table with a column of each kind, in the given types."""
    rng = np.random.default_rng(1)
    days = [dt.date(2020, 1, 1) + dt.timedelta(int(at)) for at in rng.integers(0, 1800, ROWS)]
    towns = pa.array(rng.choice(SCHEMA["town"], ROWS).tolist())
    sizes = np.round(rng.uniform(0, 100_000, ROWS), 2)
    sizes[0] = 100_000  # a type that cannot hold the bounds is not kept
    sizes = [decimal.Decimal(f"{of:.2f}") for of in sizes] if pa.types.is_decimal(size) else sizes.astype(np.float32).astype(float)
    return pa.table(
        {
            "whole": pa.array(rng.integers(0, 101, ROWS)).cast(whole),
            "size": pa.array(sizes).cast(size),
            "flag": pa.array(rng.integers(0, 2, ROWS) == 1),
            "day": pa.array(days).cast(day),
            "rank": pa.array(rng.integers(1, 4, ROWS)).cast(rank),
            "town": towns.dictionary_encode() if pa.types.is_dictionary(town) else towns.cast(town),
        }
    )


TABLES = {
    "plain": table(),
    "narrow": table(whole=pa.int8(), size=pa.float32(), day=pa.timestamp("s"), rank=pa.uint8(), town=pa.large_string()),
    "unsigned": table(whole=pa.uint16(), day=pa.timestamp("ns"), rank=pa.int32(), town=pa.dictionary(pa.int32(), pa.string())),
    "text": table(whole=pa.uint64(), size=pa.decimal128(12, 2), day=pa.timestamp("us"), rank=pa.string()),
}
#: Mechanisms of each kind: in the clear, local, labels only, rows by curators.
MECHANISMS = {
    "identity": dict(mechanism="identity", epsilon=float("inf")),
    "direct": dict(mechanism="direct", epsilon=20.0),
    "label": dict(mechanism="randomized-response", target="flag", protect="label", epsilon=1.0),
    "mst": dict(mechanism="mst", epsilon=5.0, delta=1e-6, people=ROWS),
    "noisy-moments": dict(mechanism="noisy-moments", epsilon=5.0, delta=1e-6, people=ROWS),
}
IN_THE_CLEAR = {"identity": list(SCHEMA), "label": [name for name in SCHEMA if name != "flag"]}


def designed(mechanism: str) -> scumble.Design:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", scumble.PrivacyWarning)  # about ε = 20
        return scumble.design(schema=SCHEMA, **MECHANISMS[mechanism])


def is_exact_real(of: pa.DataType) -> bool:
    return pa.types.is_decimal(of) or pa.types.is_floating(of)


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("types", TABLES)
def test_a_released_table_has_the_types_of_its_input(mechanism, types):
    given, design = TABLES[types], designed(mechanism)
    released = design.release(given)
    # A noisy number need not be a multiple of a cent, and is not rounded to 24 bits.
    expected = [pa.float64() if is_exact_real(of) and mechanism not in IN_THE_CLEAR else of for of in given.schema.types]
    assert (released.column_names, released.schema.types) == (given.column_names, expected)
    for name in IN_THE_CLEAR.get(mechanism, []):
        assert released[name].equals(given[name]), name

    of_pandas = given.to_pandas()
    back = design.release(of_pandas)
    expected = {name: np.dtype(float) if name == "size" and mechanism not in IN_THE_CLEAR else of for name, of in of_pandas.dtypes.items()}
    assert {name: str(of) for name, of in back.dtypes.items()} == {name: str(of) for name, of in expected.items()}
    for name in IN_THE_CLEAR.get(mechanism, []):
        pd.testing.assert_series_equal(back[name], of_pandas[name], check_exact=True)

    of_polars = pl.from_arrow(given)
    back = design.release(of_polars)
    if mechanism in IN_THE_CLEAR:
        assert back.schema == of_polars.schema
    else:
        assert back.drop("size").schema == of_polars.drop("size").schema and back["size"].dtype == pl.Float64
    for name in IN_THE_CLEAR.get(mechanism, []):
        assert back[name].equals(of_polars[name]), name


@needs_command
@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("types", TABLES)
def test_a_released_file_has_the_types_of_its_input(mechanism, types, tmp_path):
    given, design = TABLES[types], designed(mechanism)
    pq.write_table(given, tmp_path / "people.parquet")
    design.save(tmp_path / "design.json")
    line = [COMMAND, "release", "--design", "design.json", "--input", "people.parquet", "--output", "released.parquet", "--quiet"]
    subprocess.run(line, cwd=tmp_path, check=True)
    released, given = pq.read_table(tmp_path / "released.parquet"), pq.read_table(tmp_path / "people.parquet")
    plain = {pa.large_string(): pa.string(), pa.timestamp("s"): pa.timestamp("ms")}  # Parquet does not distinguish these types
    for name, of in zip(given.column_names, given.schema.types):
        of = of.value_type if pa.types.is_dictionary(of) else plain.get(of, of)
        is_noisy = is_exact_real(of) and mechanism not in IN_THE_CLEAR
        assert released[name].type == (pa.float64() if is_noisy else of), name
        if name in IN_THE_CLEAR.get(mechanism, []):
            assert released[name].to_pylist() == given[name].to_pylist(), name


@pytest.mark.parametrize("mechanism", ["identity", "laplace", "mst"])
def test_dtypes_of_pandas_and_polars_come_back_with_their_categories(mechanism):
    schema = {"whole": range(0, 10), "flag": bool, "town": ["a", "b"], "grade": ["lo", "hi"], "rank": ["1", "2"]}
    given = dict(epsilon=float("inf")) if mechanism == "identity" else dict(epsilon=2.0, delta=1e-6 if mechanism == "mst" else 0.0, people=60)
    design = scumble.design(mechanism, schema=schema, **given)
    columns = {"whole": [1, 2, 3] * 20, "flag": [True, False, True] * 20, "town": ["a", "b", "a"] * 20, "grade": ["lo", "hi", "hi"] * 20, "rank": [1, 2, 2] * 20}
    dtypes = {
        "whole": "Int64",
        "flag": "boolean",
        "town": pd.CategoricalDtype(["b", "a"]),
        "grade": pd.CategoricalDtype(["lo", "hi"], ordered=True),
        "rank": pd.CategoricalDtype([2, 1]),
    }
    frame = pd.DataFrame(columns).astype(dtypes)
    for given in [frame, frame.drop(columns="rank").convert_dtypes(dtype_backend="pyarrow").assign(rank=frame["rank"])]:
        assert design.release(given).dtypes.to_dict() == given.dtypes.to_dict()
    own = {"whole": pl.Int8, "flag": pl.Boolean, "town": pl.Enum(["b", "a"]), "grade": pl.Categorical, "rank": pl.UInt16}
    frame = pl.DataFrame(columns, schema_overrides=own)
    assert design.release(frame).schema == frame.schema


ZONES = ["Europe/Oslo", "America/Los_Angeles", "Asia/Kathmandu", "Pacific/Kiritimati", "UTC", "+05:30", "-08:00"]


def instants(zone: str) -> tuple[pd.Series, list[str]]:
    """First and last minutes of some local days, in winter and summer, and the days."""
    days = ["2023-12-31", "2024-01-01", "2024-02-29", "2024-07-01"]
    of_zone = zone if zone[0].isalpha() else dt.datetime.strptime(zone, "%z").tzinfo
    ends = [f"{day} {time}" for day in days for time in ("00:00", "23:59")]
    return pd.Series(pd.to_datetime(ends)).dt.tz_localize(of_zone), [day for day in days for _ in range(2)]


def dated() -> scumble.Design:
    return scumble.design("identity", schema={"day": (dt.date(2023, 1, 1), dt.date(2025, 12, 31))}, epsilon=float("inf"))


def days_of(released) -> list[str]:
    return [str(day)[:10] for day in pa.table(released)["day"].to_pylist()]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", ZONES)
def test_an_instant_is_on_its_local_day_in_frames(zone, unit):
    times, days = instants(zone)
    frame = pd.DataFrame({"day": times.dt.as_unit(unit)})
    arrow = pa.table({"day": pa.array(times.dt.tz_convert("UTC").dt.tz_localize(None)).cast(pa.timestamp(unit)).cast(pa.timestamp(unit, tz=zone))})
    for given in [frame, arrow, *([pl.from_arrow(arrow)] if zone[0].isalpha() and unit != "s" else [])]:
        released = dated().release(given)
        assert days_of(released) == days, type(given)
        assert pa.table(released)["day"].type == pa.table(given)["day"].type
        midnights = pa.table(released)["day"].cast(pa.timestamp("us", tz=zone)).to_pylist()
        assert all(midnight.time() == dt.time() for midnight in midnights), "a time of day, which the schema does not have"


@needs_command
@pytest.mark.parametrize("zone", ZONES)
def test_an_instant_is_on_its_local_day_in_files(zone, tmp_path):
    times, days = instants(zone)
    of_zone = times.dt.tz_convert(zone if zone[0].isalpha() else dt.datetime.strptime(zone, "%z").tzinfo)
    pd.DataFrame({"day": times}).to_parquet(tmp_path / "times.parquet")
    (tmp_path / "times.csv").write_text("day\n" + "".join(f"{time.isoformat()}\n" for time in of_zone))
    naive = of_zone.dt.tz_localize(None)
    pd.DataFrame({"day": naive}).to_parquet(tmp_path / "naive.parquet")
    dated().save(tmp_path / "design.json")

    def released(name: str, *more: str) -> subprocess.CompletedProcess:
        line = [COMMAND, "release", "--design", "design.json", "--input", name, "--output", "days.csv", "--force", "--quiet", *more]
        return subprocess.run(line, cwd=tmp_path, capture_output=True, text=True)

    for name in ["times.parquet", "times.csv", "naive.parquet"]:
        ran = released(name)
        assert ran.returncode == 0, ran.stderr
        assert [line[:10] for line in (tmp_path / "days.csv").read_text().split()[1:]] == days, name

    # Without its time zone an instant has no known day, and the error names the column.
    pq.write_table(pq.read_table(tmp_path / "times.parquet").replace_schema_metadata(), tmp_path / "bare.parquet", store_schema=False)
    (tmp_path / "days.csv").unlink()
    ran = released("bare.parquet")
    assert ran.returncode == 2 and ran.stderr.count("\n") == 1 and '"day"' in ran.stderr, ran.stderr
    assert not (tmp_path / "days.csv").exists()


@needs_command
@pytest.mark.parametrize("as_dictionary", [True, False])
def test_a_text_that_a_small_file_repeats_takes_its_memory_once(as_dictionary, tmp_path):
    """A kilobyte of Parquet repeats one text of 20 MB in 100,000 rows. The limit is 3 GB of memory."""
    import resource

    texts = pa.DictionaryArray.from_arrays(pa.array(np.zeros(100_000, np.int32)), pa.array(["a" * 20_000_000]))
    if not as_dictionary:
        texts = pa.array(["a" * 20_000_000])
    pq.write_table(pa.table({"c": texts}), tmp_path / "p.parquet", compression="zstd")
    limit = 3_000_000_000
    line = [COMMAND, "schema", "p.parquet", "--output", "s.toml"]
    within = lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    ran = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, preexec_fn=within, timeout=100)
    assert ran.returncode == 2 and ran.stderr.count("\n") == 1 and len(ran.stderr) < 300, (ran.returncode, ran.stderr[-300:])
    assert not (tmp_path / "s.toml").exists()


IN_THE_CLEAR_BY = dict(mechanism="identity", epsilon=float("inf"))


def columns_of(schema) -> list[dict]:
    columns = json.loads(scumble.design(schema=schema, **IN_THE_CLEAR_BY)._native.to_json())["schema"]["column"]
    return [{key: value for key, value in column.items() if key != "unit"} for column in columns]


@pytest.mark.parametrize(
    "bounds, plain",
    [
        ((np.float32(0), np.float32(1)), (0.0, 1.0)),
        ((np.int64(0), np.int64(9)), (0, 9)),
        ((decimal.Decimal(0), decimal.Decimal("0.5")), (0.0, 0.5)),
        ((np.datetime64("2020-01-01"), np.datetime64("2021-01-01", "ns")), (dt.date(2020, 1, 1), dt.date(2021, 1, 1))),
        ((pd.Timestamp("2020-01-01"), np.datetime64("2021")), (dt.date(2020, 1, 1), dt.date(2021, 1, 1))),
        ({"kind": "integer", "lower": np.int8(0), "upper": np.int64(9)}, range(0, 10)),
    ],
)
def test_bounds_may_be_scalars_of_numpy_and_pandas(bounds, plain):
    assert columns_of({"x": bounds}) == columns_of({"x": plain})


@pytest.mark.parametrize(
    "levels, texts",
    [
        (pd.CategoricalDtype(["a", "b"]), ["a", "b"]),
        (pl.Enum(["a", "b"]), ["a", "b"]),
        (np.array(["a", "b"]), ["a", "b"]),
        (pd.Index(["a", "b"]), ["a", "b"]),
        (pd.Series(["a", "b", "a"]).unique(), ["a", "b"]),
        (pl.Series(["a", "b"]), ["a", "b"]),
        (np.array([True, False]), ["true", "false"]),
        ([1.0, 2.5, 30.0], ["1", "2.5", "30"]),
        (np.array([0.1, 2], np.float32), ["0.1", "2"]),
    ],
)
def test_levels_may_be_arrays_and_types_with_categories(levels, texts):
    assert columns_of({"x": levels}) == [{"name": "x", "kind": "category", "levels": texts}]


def test_an_ordered_type_makes_an_ordered_column():
    [column] = columns_of({"x": pd.CategoricalDtype(["lo", "hi"], ordered=True)})
    assert column == {"name": "x", "kind": "ordered", "levels": ["lo", "hi"]}


@pytest.mark.parametrize(
    "levels, problem",
    [
        (pd.CategoricalDtype(), "column 'x': the type has no categories"),
        (pl.Categorical(), "column 'x': the type has no categories"),
        (["a", None], "column 'x': None is not a level.*'missing'"),
        (np.array([1.0, np.nan]), "column 'x': nan is not a level"),
        (np.zeros((2, 2)), "column 'x': the levels must be"),
        (object(), "column 'x': give"),
    ],
)
def test_levels_that_no_schema_can_have_are_refused(levels, problem):
    with pytest.raises(scumble.InvalidInput, match=problem):
        columns_of({"x": levels})


def test_a_list_of_two_numbers_warns_that_it_is_no_pair_of_bounds():
    with pytest.warns(UserWarning, match=r"write \(0, 120\) for bounds") as warned:
        scumble.design(schema={"age": [0, 120]}, **IN_THE_CLEAR_BY)
    assert warned[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for levels in (["0", "120"], {0, 120}, [1, 2, 3], [False, True]):
            scumble.compare(frame_of(levels), schema={"x": levels, "y": ["a", "b"]}, target="y", mechanisms="direct", epsilon=np.int64(2), trials=1, seed=np.int64(3))


def frame_of(levels) -> pd.DataFrame:
    return pd.DataFrame({"x": [*levels] * 30, "y": [*"aab"] * 10 * len(levels)})


def test_a_draft_is_a_schema_whose_design_warns():
    frame = pd.DataFrame({"x": np.linspace(0, 1, 60), "y": ["a", "b"] * 30})
    draft = scumble.draft_schema(frame)
    assert isinstance(draft, scumble.Draft) and isinstance(draft, str)
    if sys.version_info < (3, 11):
        with pytest.raises(scumble.InvalidInput, match="save it as a file"):
            scumble.design("laplace", schema=draft, epsilon=1.0)
        return
    with pytest.warns(scumble.PrivacyWarning, match="come from the data") as warned:
        design = scumble.design("laplace", schema=draft, epsilon=1.0)
    assert design.columns == ["x", "y"] and warned[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scumble.compare(frame, schema=draft, target="y", mechanisms="direct", epsilon=2, trials=1)
        reviewed = scumble.Draft(draft.replace("draft = true", ""))
        assert scumble.design("laplace", schema=reviewed, epsilon=1.0) == design
    with pytest.raises(scumble.InvalidInput, match=r"scumble\.Draft\(text\)"):
        scumble.design("laplace", schema=str(draft), epsilon=1.0)


def test_a_series_and_sources_of_pyarrow_are_tables():
    import pyarrow.dataset as ds

    design = scumble.design("laplace", schema={"x": (0, 1)}, epsilon=1.0)
    for series in [pd.Series([0.5, 1], name="x"), pl.Series("x", [0.5, 1])]:
        released = design.release(series)
        assert type(released) is type(series) and released.name == "x" and len(released) == 2
    with pytest.raises(scumble.InvalidInput, match="Series has no name"):
        design.release(pd.Series([0.5]))
    table = pa.table({"x": [0.5, 1]})
    for source in [ds.dataset(table), ds.dataset(table).scanner(), table.to_reader(), table.to_batches()[0]]:
        assert design.release(source).num_rows == 2
    for other in [pd.Index([0.5]), pl.col("x"), pa.array([0.5]), 3]:
        with pytest.raises(scumble.InvalidInput, match="is not a table"):
            design.release(other)


class Capsule:
    """Object with the Arrow C interface alone, as a relation of DuckDB is."""

    def __arrow_c_stream__(self, requested_schema=None):
        return pa.table({"x": [0.5]}).__arrow_c_stream__(requested_schema)


def test_an_arrow_object_comes_back_as_a_table_of_pyarrow(monkeypatch):
    design = scumble.design("laplace", schema={"x": (0, 1)}, epsilon=1.0)
    assert isinstance(design.release(Capsule()), pa.Table)
    monkeypatch.setitem(sys.modules, "pyarrow", None)  # as if it were not installed
    assert hasattr(design.release(Capsule()), "__arrow_c_stream__")


@pytest.mark.parametrize(
    "values, kind",
    [
        (pd.Series([1 + 2j, 1j]), "complex128"),
        (pd.Series([1, "a"], dtype=object), r"object \(mixed-integer\)"),
        (pl.Series([1, 2], dtype=pl.Int128), "Int128"),
        (pl.Series([object(), object()], dtype=pl.Object), "Object"),
        (pl.Series([[1], [2]]), r"LargeList\(Int64\)"),
        (pd.Series(pd.to_timedelta([1, 2])), r"Duration\(ns\)"),
    ],
)
def test_an_unsupported_type_is_named_with_its_column(values, kind):
    frame = type(values.to_frame())({"x": values})
    with pytest.raises(scumble.InvalidRecords, match=f'^the table: column "x" holds values of the type {kind}, which are not supp.*dates$'):
        scumble.design("laplace", schema={"x": (0, 1)}, epsilon=1.0).release(frame)


@pytest.mark.parametrize("values", [pd.Series([0.5, np.nan]), pl.Series([0.5, None]), pl.Series([None, None]), pd.Series([None, None])])
@pytest.mark.parametrize("column", [(0, 1), ["a", "b"]])
def test_a_missing_cell_without_a_public_value_names_the_way_out(values, column):
    design = scumble.design("identity", schema={"x": column}, epsilon=float("inf"))
    frame = type(values.to_frame())({"x": values[1:]})
    with pytest.raises(scumble.InvalidRecords, match='"x": "" is not.*missing='):
        design.release(frame)


#: Calls that a type checker accepts, and the types of their results.
RIGHT = """\
import pathlib
import polars as pl
import scumble

design = scumble.design("laplace", schema={"x": (0, 1)}, epsilon=1, protect="record")
scumble.design("laplace", schema=pathlib.Path("x.toml"), epsilon=1)
frame = pl.DataFrame({"x": [0.5]})
scumble.design("laplace", schema=scumble.draft_schema(frame), epsilon=1)
reveal_type(design.release(frame))
reveal_type(design.release(frame["x"], values="drawn", ledger=scumble.Ledger("l"), ticket="t"))
reveal_type(design.release_with_card(frame)[0])
reveal_type(design.view(frame))
design.release(frame.lazy()).collect
"""
WRONG = [
    "design.release(42)",
    'design.release(frame, values="nonsense")',
    "design.release(frame, ticket=3)",
    'design.release(["x"])',
    'design.view("people.csv")',
    'scumble.design("laplace", schema=3, epsilon=1)',
    'scumble.compare(frame, schema={}, target="x", protect="x")',
    'scumble.compare(3, schema={}, target="x")',
]


def test_a_type_checker_refuses_wrong_calls(tmp_path):
    pytest.importorskip("mypy")
    file = tmp_path / "calls.py"
    file.write_text(RIGHT + "\n".join(WRONG) + "\n")
    package = os.path.dirname(os.path.dirname(scumble.__file__))
    line = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", f"--cache-dir={tmp_path}", str(file)]
    ran = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, env={**os.environ, "MYPYPATH": package})
    said = [text.split(":", 2)[1:] for text in ran.stdout.splitlines() if text.startswith("calls.py:") and ": error:" in text]
    right = RIGHT.count("\n")
    assert {int(line) for line, _ in said} == set(range(right + 1, right + 1 + len(WRONG))), ran.stdout + ran.stderr
    types = [text.split('"')[1].rpartition(".")[2] for text in ran.stdout.splitlines() if "Revealed type" in text]
    assert types == ["DataFrame", "Series", "DataFrame", "DataFrame"]


def test_the_module_has_its_version_and_names_alone():
    with open(os.path.join(os.path.dirname(__file__), "..", "pyproject.toml"), encoding="utf-8") as file:
        assert f'version = "{scumble.__version__}"\n' in file.read()
    assert not {"Any", "json"} & set(dir(scumble))
