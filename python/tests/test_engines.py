"""Tests of engines that repeat tasks: one release, one charge, and the bits of one process."""

import json
import pickle
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import SCHEMA, made_up
from side_file import attempts, judge, kill_executors, record

import scumble


def of_one_process(design, people, ticket, **paid) -> pd.DataFrame:
    released = design.release(people, ticket=ticket, id="person", **paid)
    released.insert(0, "person", people.person)
    return released


@pytest.fixture
def ledger(tmp_path):
    ledger = scumble.Ledger(tmp_path / "ledger.json")
    ledger.open("survey", epsilon=3.0)
    return ledger


def spent(ledger) -> float:
    return ledger.accounts[0]["spent"]["epsilon"]


@pytest.fixture(scope="module")
def client():
    dask = pytest.importorskip("dask")
    from distributed import Client, LocalCluster

    sys.path.insert(0, str(Path(__file__).parent))
    with dask.config.set({"distributed.scheduler.allowed-failures": 10}):
        cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None)
        with cluster, Client(cluster) as client:
            client.run(sys.path.insert, 0, str(Path(__file__).parent))
            yield client


def one_bit(people: pd.DataFrame) -> pd.DataFrame:
    return people.assign(age=np.where(people.index % 10 == 9, np.nextafter(people.age, 0), people.age))


#: Changes of a source that is computed again: other values, other people, other ids.
CHANGES = {
    "a last bit": one_bit,
    "a value": lambda people: people.assign(age=(people.age + 1) % 100),
    "a level": lambda people: people.assign(smokes=people.smokes.map({"no": "yes", "yes": "no"})),
    "an id": lambda people: people.assign(person=people.person + "b"),
    "new people": lambda people: pd.concat([people, made_up(3500).iloc[3000:]], ignore_index=True),
}


def part_of(folder: str, part: int) -> pd.DataFrame:
    people = pd.read_pickle(Path(folder) / "live.pickle")
    return people.iloc[len(people) * part // 3 : len(people) * (part + 1) // 3]


def refuses_frames_of_engines(design, frame, call: str) -> None:
    calls = {
        "release": lambda: design.release(frame),
        "view": lambda: design.view(frame),
        "draft": lambda: scumble.draft_schema(frame),
        "compare": lambda: scumble.compare(frame, schema=SCHEMA, target="smokes"),
        "volunteers": lambda: scumble.design("direct", schema=SCHEMA, epsilon=1.0, volunteers=frame, volunteers_are="public"),
    }
    for release in calls.values():
        with pytest.raises(scumble.InvalidInput, match=re.escape(f"{call}(df, design, ticket, id=...)")):
            release()


class TestDask:
    """Dask with two worker processes."""

    def test_a_killed_worker_repeats_one_release(self, client, design, people, ledger, tmp_path):
        import dask.dataframe as dd

        import scumble.dask

        folder, ticket = tmp_path / "attempts", tmp_path / "ticket.json"
        folder.mkdir()
        how = dict(id="person", ledger=ledger, dataset="survey", keep_id=True)
        released, card = scumble.dask.release(dd.from_pandas(people, npartitions=8), design, ticket, **how)

        def spied(frame, folder):
            record(folder, frame)
            return frame

        found = released.map_partitions(spied, str(folder), meta=released._meta).compute()
        judge(folder, found, of_one_process(design, people, ticket, ledger=ledger, dataset="survey"))
        assert spent(ledger) == 2.0 and card["ticket"] == scumble.Ticket(ticket).name and card["records"] == len(people)

    @pytest.mark.parametrize("partitions", [1, 2, 8])
    def test_partitions_do_not_matter(self, client, partitions, design, people, tmp_path):
        import dask.dataframe as dd

        import scumble.dask

        ticket = tmp_path / "ticket.json"
        released, _ = scumble.dask.release(dd.from_pandas(people, npartitions=partitions), design, ticket, id="person", keep_id=True)
        expected = of_one_process(design, people, ticket).sort_values("person").reset_index(drop=True)
        found = released.compute().sort_values("person").reset_index(drop=True)
        pd.testing.assert_frame_equal(found, expected, check_exact=True, check_dtype=False)
        assert list(scumble.dask.release(dd.from_pandas(people, npartitions=3), design, ticket, id="person")[0].columns) == list(SCHEMA)

    def test_what_is_clipped_is_counted_once(self, client, design, people, tmp_path):
        import dask.dataframe as dd

        import scumble.dask

        people.loc[people.index[:700], "age"] += 100
        with pytest.warns(scumble.ClippedWarning, match=f": {(people.age > 100).sum()} of 'age' to \\[0, 100\\]") as told:
            released, _ = scumble.dask.release(dd.from_pandas(people, npartitions=4), design, tmp_path / "ticket.json", id="person")
        assert [warning.filename for warning in told] == [__file__]
        assert len(released.compute()) == len(people)

    def test_two_drivers_are_one_charge(self, design, people, ledger, tmp_path):
        """Two concurrent processes share one ticket and one ledger."""
        people.to_pickle(tmp_path / "people.pickle")
        design.save(tmp_path / "design.json")
        driver = """
import sys, pandas, dask.dataframe, scumble, scumble.dask
folder = sys.argv[1]
people = dask.dataframe.from_pandas(pandas.read_pickle(folder + "/people.pickle"), npartitions=2)
how = dict(id="person", ledger=scumble.Ledger(folder + "/ledger.json"), dataset="survey", keep_id=True)
released, card = scumble.dask.release(people, scumble.Design.read(folder + "/design.json"), folder + "/ticket.json", **how)
released.compute(scheduler="synchronous").to_pickle(folder + "/" + sys.argv[2])
"""
        drivers = [subprocess.Popen([sys.executable, "-c", driver, str(tmp_path), f"{at}.pickle"]) for at in range(2)]
        assert [driver.wait(timeout=120) for driver in drivers] == [0, 0]
        one, other = (pd.read_pickle(tmp_path / f"{at}.pickle") for at in range(2))
        pd.testing.assert_frame_equal(one, other, check_exact=True)
        assert spent(ledger) == 2.0

    @pytest.mark.parametrize("changes", CHANGES)
    @pytest.mark.parametrize("persist", [True, False])
    def test_a_source_that_changes_gives_the_admitted_release_or_none(self, client, persist, changes, design, people, ledger, tmp_path):
        import dask
        import dask.dataframe as dd

        import scumble.dask

        people.to_pickle(tmp_path / "live.pickle")
        live = dd.from_delayed([dask.delayed(part_of)(str(tmp_path), part) for part in range(3)], meta=people)
        how = dict(id="person", ledger=ledger, dataset="survey", keep_id=True, persist=persist)
        released, card = scumble.dask.release(live, design, tmp_path / "ticket.json", **how)
        first = released.compute()
        expected = of_one_process(design, people, tmp_path / "ticket.json", ledger=ledger, dataset="survey")
        pd.testing.assert_frame_equal(first.reset_index(drop=True), expected, check_exact=True, check_dtype=False)
        CHANGES[changes](people).to_pickle(tmp_path / "live.pickle")
        if persist:
            pd.testing.assert_frame_equal(released.compute(), first, check_exact=True)
        else:
            with pytest.raises(scumble.NotAdmitted, match="records were not admitted, or changed since.*snapshot"):
                released.compute()
            # With a snapshot, Dask identifies the frame by its tasks, and returns the admitted records again.
            with pytest.raises(scumble.WrongTicket, match="not for|other records"):
                scumble.dask.release(live, design, tmp_path / "ticket.json", **how)
        assert spent(ledger) == 2.0 and card["records"] == len(people)

    def test_a_ticket_that_was_replaced_releases_nothing(self, client, design, people, tmp_path):
        import dask.dataframe as dd

        import scumble.dask

        ticket, df = tmp_path / "ticket.json", dd.from_pandas(people, npartitions=2)
        released, _ = scumble.dask.release(df, design, ticket, id="person")
        scumble.Ticket(ticket).forget()
        assert not list(tmp_path.iterdir())
        with pytest.raises(FileNotFoundError):
            released.compute()
        again, _ = scumble.dask.release(df, design, ticket, id="person")
        with pytest.raises(scumble.WrongTicket, match="another ticket"):
            released.compute()
        assert len(again.compute()) == len(people)

    @pytest.mark.parametrize("kept", [39, 1, 100])
    def test_a_partition_may_be_empty(self, client, kept, design, tmp_path):
        import dask.dataframe as dd

        import scumble.dask

        df = dd.from_pandas(made_up(100).assign(number=range(100)), npartitions=4)
        released, card = scumble.dask.release(df[df.number >= 100 - kept], design, tmp_path / "ticket.json", id="person")
        assert len(released.compute()) == card["records"] == kept
        with pytest.raises(ValueError, match="no records"):
            scumble.dask.release(df[df.number >= 100], design, tmp_path / "other.json", id="person")
        assert not (tmp_path / "other.json").exists()

    def test_a_frame_is_refused_where_it_would_be_brought_here(self, design, people):
        import dask.dataframe as dd

        refuses_frames_of_engines(design, dd.from_pandas(people, npartitions=2), "scumble.dask.release")

    @pytest.mark.parametrize("spoiled", ["level", "id", "column", "two partitions"])
    def test_what_is_wrong_is_said_without_its_value(self, client, spoiled, design, people, ledger, tmp_path):
        import dask.dataframe as dd

        import scumble.dask

        people = people.copy()
        if spoiled == "level":
            people.loc[2999, "smokes"] = "sekrit"
        elif spoiled == "id":
            people.loc[7, "person"] = None
        elif spoiled == "column":
            people = people.drop(columns="age")
        else:
            people.loc[2999, "person"] = "p0"
        named = {"level": "smokes", "id": "person", "column": "age", "two partitions": "person"}[spoiled]
        with pytest.raises((ValueError, KeyError)) as raised:
            scumble.dask.release(dd.from_pandas(people, npartitions=4), design, tmp_path / "t.json", id="person", ledger=ledger, dataset="survey")
        assert named in str(raised.value) and "sekrit" not in str(raised.value)
        assert spent(ledger) == 0 and not (tmp_path / "t.json").exists()


class TestParts:
    """Any engine, by the functions that the modules for Spark and Dask use."""

    def test_chunks_of_a_file_are_one_release(self, design, people, ledger, tmp_path):
        from scumble.engines import admit, check_part

        people.to_csv(tmp_path / "people.csv", index=False)

        def chunks(rows):
            return pd.read_csv(tmp_path / "people.csv", chunksize=rows)

        parts = [check_part(design, chunk, id="person") for chunk in chunks(700)]
        admission = admit(design, parts, tmp_path / "ticket.json", id="person", ledger=ledger, dataset="survey")
        admission = pickle.loads(pickle.dumps(admission))
        secret = json.loads((tmp_path / "ticket.json").read_text())["secret"]
        assert secret not in repr(admission) and secret.encode() not in pickle.dumps(admission)
        for rows in [1000, 999]:
            found = pd.concat([pa.table(admission.release(chunk)).to_pandas() for chunk in chunks(rows)], ignore_index=True)
            expected = design.release(pd.read_csv(tmp_path / "people.csv"), ticket=tmp_path / "ticket.json", id="person", ledger=ledger, dataset="survey")
            pd.testing.assert_frame_equal(found, expected, check_exact=True)
        assert spent(ledger) == 2.0 and admission.card["records"] == len(people)
        for change in CHANGES.values():
            with pytest.raises(scumble.NotAdmitted, match=r"\d+ of \d+ records were not admitted"):
                admission.release(change(people).iloc[-700:])

    def test_repeated_ids_are_found_across_parts(self, design, people, ledger, tmp_path):
        from scumble.engines import admit, check_part

        parts = [check_part(design, part, id="person") for part in [people[:200], people[199:400], people[398:500]]]
        with pytest.raises(scumble.InvalidRecords, match='column "person": 3 ids occur in more than one record'):
            admit(design, parts, tmp_path / "ticket.json", id="person", ledger=ledger, dataset="survey")
        assert spent(ledger) == 0 and not (tmp_path / "ticket.json").exists()

    def test_the_file_of_admitted_records_is_its_owners_and_made_again(self, design, people, tmp_path):
        from scumble.engines import admit, check_part

        ticket, beside = tmp_path / "ticket.json", tmp_path / "ticket.json.admitted"
        design.release(people, ticket=ticket, id="person")
        assert not beside.exists()
        part = check_part(design, people, id="person")
        admit(design, [part], ticket, id="person")
        whole = beside.read_bytes()
        assert oct(beside.stat().st_mode & 0o777) == "0o600" and len(whole) < 100 + 16 * len(people)
        beside.write_bytes(whole[:-1])
        again = admit(design, [part], ticket, id="person")
        assert beside.read_bytes() == whole
        beside.unlink()
        subprocess.run([sys.executable, "-c", RELEASE_WITHOUT_THE_FILE], input=pickle.dumps((again, people)), check=True)
        scumble.Ticket(ticket).forget()
        assert not list(tmp_path.iterdir())


RELEASE_WITHOUT_THE_FILE = """
import pickle, sys, scumble
admission, people = pickle.load(sys.stdin.buffer)
try:
    admission.release(people)
except scumble.WrongTicket as error:
    assert "no records were admitted" in str(error), error
else:
    raise AssertionError("it was released")
"""


class TestPolars:
    @pytest.mark.parametrize("changes", CHANGES)
    def test_a_file_that_changes_gives_the_admitted_release(self, changes, design, people, ledger, tmp_path):
        import scumble.polars

        file = tmp_path / "people.parquet"
        people.to_parquet(file)
        how = dict(id="person", ledger=ledger, dataset="survey")
        released, card = scumble.polars.scan_released(pl.scan_parquet(file), design, tmp_path / "ticket.json", **how)
        first = released.collect()
        CHANGES[changes](people).to_parquet(tmp_path / "new.parquet")
        (tmp_path / "new.parquet").rename(file)
        assert released.collect().equals(first) and len(first) == card["records"] == len(people)
        with pytest.raises(scumble.WrongTicket):
            scumble.polars.scan_released(pl.scan_parquet(file), design, tmp_path / "ticket.json", **how)
        assert spent(ledger) == 2.0

    def test_sums_of_another_order_are_one_release(self, tmp_path):
        """Float sums of rows in varying order differ in their last bits."""
        import scumble.polars

        calls, rng = iter(range(100)), np.random.default_rng(0)
        rows = pl.DataFrame({"id": np.repeat(np.arange(40), 50), "x": rng.uniform(0, 2, 2000)})
        shuffled = rows.lazy().map_batches(lambda frame: frame.sample(fraction=1.0, shuffle=True, seed=next(calls)), schema=rows.schema)
        sums = shuffled.group_by("id").agg(pl.col("x").sum())
        assert set(sums.collect()["x"]) != set(sums.collect()["x"])
        design = scumble.design("direct", schema={"x": (0, 100)}, epsilon=1.0)
        released, _ = scumble.polars.scan_released(sums, design, tmp_path / "ticket.json", id="id")
        assert set(released.collect()["x"]) == set(released.collect()["x"])

    def test_a_released_column_is_no_id(self, design, people, tmp_path):
        import scumble.polars

        for id, error in [("age", ValueError), ("nobody", KeyError)]:
            with pytest.raises(error, match=id):
                scumble.polars.scan_released(pl.from_pandas(people).lazy(), design, tmp_path / "ticket.json", id=id)

    def test_a_query_sees_released_columns_alone(self, design, people, tmp_path):
        import scumble.polars

        ticket = tmp_path / "ticket.json"
        released, card = scumble.polars.scan_released(pl.from_pandas(people).lazy(), design, ticket, id="person")
        assert released.collect_schema().names() == list(SCHEMA)
        expected = pl.from_pandas(design.release(people, ticket=ticket, id="person"))
        assert released.collect().equals(expected)
        above = released.filter(pl.col("age") > 90).select("smokes", "age").head(20)
        assert above.collect().equals(expected.filter(pl.col("age") > 90).select("smokes", "age").head(20))
        with pytest.raises(pl.exceptions.ColumnNotFoundError):
            released.filter(pl.col("person") == "p1").collect()
        assert card["records"] == len(people)


class TestScikitLearn:
    def test_a_search_releases_each_record_once(self, people, ledger, tmp_path):
        from sklearn.linear_model import LogisticRegression
        from sklearn.model_selection import GridSearchCV
        from sklearn.pipeline import make_pipeline

        from scumble.sklearn import Release

        features = {name: SCHEMA[name] for name in ["age", "children"]}
        design = scumble.design("piecewise", schema=features, epsilon=2.0)
        X, y = people.set_index("person")[list(features)], people.smokes.to_numpy()
        seen: list[pd.DataFrame] = []

        class Watched(LogisticRegression):
            def fit(self, X, y):
                seen.append(X)
                return super().fit(X, y)

        release = Release(design, tmp_path / "ticket.json")
        release.admit(X, ledger=ledger, dataset="survey")
        search = GridSearchCV(make_pipeline(release, Watched()), {"watched__C": [0.1, 1, 10]}, cv=5)
        search.fit(X, y)
        assert len(seen) == 16
        everything = pd.concat(seen).reset_index()
        assert len(everything) == 16 * len(X) - 3 * len(X)
        assert len(everything.drop_duplicates()) == len(X), "a record has two noises"
        assert spent(ledger) == 2.0

    def test_records_that_were_not_admitted_are_refused(self, people, tmp_path):
        from sklearn.base import clone

        from scumble.sklearn import Release

        design = scumble.design("piecewise", schema={"age": (0, 100)}, epsilon=2.0)
        X = people.set_index("person")[["age"]]
        release = Release(design, tmp_path / "ticket.json")
        with pytest.raises(ValueError, match="admit"):
            release.fit_transform(X)
        release.admit(X[:2000])
        assert len(clone(release).fit_transform(X[500:1000])) == 500
        for other in [X[1999:], X[:10] + 1, X[:10].set_axis([f"q{at}" for at in range(10)])]:
            with pytest.raises(ValueError, match="not admitted"):
                release.transform(other)
        with pytest.raises(ValueError, match="index"):
            release.transform(pd.concat([X[:5], X[:5]]))
        assert list(release.get_feature_names_out()) == ["age"]


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    pyspark = pytest.importorskip("pyspark")
    import os

    from pyspark.sql import SparkSession

    tests = str(Path(__file__).parent)
    os.environ["SPARK_HOME"] = str(Path(pyspark.__file__).parent)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYTHONPATH"] = os.pathsep.join([tests, *filter(None, [os.environ.get("PYTHONPATH")])])
    events = tmp_path_factory.mktemp("events")
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("scumble")
    settings = {
        "spark.ui.enabled": "false",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": f"file://{events}",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "1000",
        "spark.driver.host": "127.0.0.1",
        "spark.executorEnv.PYTHONPATH": os.environ["PYTHONPATH"],
        "spark.sql.shuffle.partitions": "4",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.events = events
    yield spark
    spark.stop()


def spied(df, folder):
    """The same Spark frame, which also saves the output of every attempt."""
    folder = str(folder)

    def written(batches):
        import pyarrow as pa

        for batch in batches:
            record(folder, pa.Table.from_batches([batch]).to_pandas())
            yield batch

    return df.mapInArrow(written, df.schema)


@pytest.mark.spark
class TestSpark:
    """Spark with a driver and two executors, each in a separate process."""

    def test_a_killed_executor_repeats_one_release(self, spark, design, ledger, tmp_path):
        import scumble.spark

        people = made_up(40_000)
        folder, ticket = tmp_path / "attempts", tmp_path / "ticket.json"
        folder.mkdir()
        how = dict(id="person", ledger=ledger, dataset="survey", keep_id=True)
        df = spark.createDataFrame(people).repartition(8)
        released, card = scumble.spark.release(df, design, ticket, **how)

        output = str(tmp_path / "released.parquet")
        spied(released, folder).write.parquet(output)
        found = pd.read_parquet(output)
        judge(folder, found, of_one_process(design, people, ticket, ledger=ledger, dataset="survey"))
        assert spent(ledger) == 2.0 and card["records"] == len(people)
        secret = json.loads(ticket.read_text())["secret"]
        logged = [file.read_text(errors="replace") for file in spark.events.rglob("*") if file.is_file()]
        plan = released._jdf.queryExecution().toString()
        assert logged and not any(secret in text for text in [*logged, plan])

    def test_a_lost_cached_stage_repeats_one_release(self, spark, design, tmp_path):
        import scumble.spark

        people = made_up(8000)
        folder, ticket = tmp_path / "attempts", tmp_path / "ticket.json"
        folder.mkdir()
        (folder / "killed").touch()  # no kill during the first computation
        released, _ = scumble.spark.release(spark.createDataFrame(people).repartition(8), design, ticket, id="person", keep_id=True)

        kept = spied(released, folder).cache()
        expected = of_one_process(design, people, ticket)
        assert kept.count() == kept.count() == len(people) == len(attempts(folder)), "it was not cached"
        kill_executors()
        judge(folder, kept.toPandas(), expected)
        kept.unpersist()

    @pytest.mark.parametrize("partitions", [1, 2, 8])
    @pytest.mark.parametrize("batch", ["1", "1000", "10000"])
    def test_partitions_and_batches_do_not_matter(self, spark, partitions, batch, design, tmp_path):
        import scumble.spark

        people = made_up(500 if batch == "1" else 20_000)
        spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", batch)
        ticket = tmp_path / "ticket.json"
        df = spark.createDataFrame(people).repartition(partitions)
        released, _ = scumble.spark.release(df, design, ticket, id="person", keep_id=True)
        expected = of_one_process(design, people, ticket).sort_values("person").reset_index(drop=True)
        found = released.toPandas().sort_values("person").reset_index(drop=True)
        pd.testing.assert_frame_equal(found, expected, check_exact=True, check_dtype=False)

    def test_a_filter_stays_above_the_release(self, spark, design, people, tmp_path):
        import scumble.spark

        people.to_parquet(tmp_path / "people.parquet")
        df = scumble.spark.with_row_id(spark.read.parquet(str(tmp_path / "people.parquet")))
        released, _ = scumble.spark.release(df, design, tmp_path / "ticket.json", id="row_id")
        assert released.columns == list(SCHEMA)
        plan = released.where("age > 50")._jdf.queryExecution().executedPlan().toString()
        nodes = [line.strip(" +-:*()0123456789").split(" ")[0] for line in plan.splitlines()]
        nodes = [node for node in nodes if node in ("Filter", "MapInArrow", "FileScan")]
        assert nodes[:2] == ["Filter", "MapInArrow"] and "InMemoryTableScan" in plan, plan
        assert "PushedFilters: []" in plan
        assert released.count() == len(people)
        df.sparkSession.catalog.clearCache()

    def test_a_frame_is_refused_where_it_would_be_brought_here(self, spark, design, people):
        jobs = spark.sparkContext.statusTracker().getJobIdsForGroup(None)
        refuses_frames_of_engines(design, spark.createDataFrame(people), "scumble.spark.release")
        assert spark.sparkContext.statusTracker().getJobIdsForGroup(None) == jobs

    @pytest.mark.parametrize("unstable", ["dropDuplicates", "sample", "float sums", "a random function", "files"])
    @pytest.mark.parametrize("persist", [True, False])
    def test_an_unstable_frame_gives_no_person_two_noises(self, spark, persist, unstable, design, ledger, tmp_path):
        """Two visits of each person, in files that Spark reads in parallel, and a frame that differs at each evaluation."""
        from pyspark.sql import functions as F

        import scumble.spark

        spark.catalog.clearCache()
        visits = pd.concat([made_up(4000), made_up(4000).assign(age=lambda of: (of.age + 37) % 100)])
        visits = spark.createDataFrame(visits.sample(frac=1, random_state=0)).repartition(8)
        visits.write.mode("overwrite").parquet(str(tmp_path / "visits"))
        visits = spark.read.parquet(str(tmp_path / "visits"))
        random = F.udf(lambda age: float(np.random.default_rng().uniform(0, 100)), "double")
        df = {
            "dropDuplicates": lambda: visits.repartition(8).dropDuplicates(["person"]),
            "sample": lambda: visits.dropDuplicates(["person"]).sample(0.5),
            "float sums": lambda: visits.groupBy("person").agg(F.sum("age").alias("age"), F.max("children").alias("children"), F.max("smokes").alias("smokes")),
            "a random function": lambda: visits.dropDuplicates(["person"]).withColumn("age", random("age")),
            "files": lambda: visits.dropDuplicates(["person"]),
        }[unstable]()
        folder = tmp_path / "attempts"
        folder.mkdir()
        (folder / "killed").touch()  # no kill
        how = dict(id="person", ledger=ledger, dataset="survey", keep_id=True, persist=persist)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", scumble.ClippedWarning)
            released, card = scumble.spark.release(df, design, tmp_path / "ticket.json", **how)
        refused = 0
        for action in range(3):
            if unstable == "files" and action == 1:
                # Without Spark, which would clear the cache of a path that it overwrites.
                for checksum in (tmp_path / "visits").glob(".*.crc"):
                    checksum.unlink()
                for file in (tmp_path / "visits").glob("*.parquet"):
                    pd.read_parquet(file).assign(age=5.0).to_parquet(file)
            try:
                assert len(spied(released, folder).toPandas()) == card["records"]
            except Exception as error:  # noqa: BLE001
                assert not persist and ("were not admitted" in str(error) or "does not exist" in str(error)), error
                refused += 1
        computed = attempts(folder) if list(folder.glob("*.attempt")) else pd.DataFrame({"person": []})
        assert not computed.drop_duplicates()["person"].duplicated().any(), "a person has two noises"
        assert spent(ledger) == 2.0 and (not refused if persist else True)
        if unstable in ("a random function", "files") and not persist:
            assert refused, "what changed was released"

    def test_an_executor_that_is_lost_over_an_unstable_source_gives_no_second_noise(self, spark, design, tmp_path):
        from pyspark.sql import functions as F

        import scumble.spark

        spark.catalog.clearCache()
        random = F.udf(lambda age: float(np.random.default_rng().uniform(0, 100)), "double")
        df = spark.createDataFrame(made_up(4000)).repartition(8).withColumn("age", random("age"))
        released, _ = scumble.spark.release(df, design, tmp_path / "ticket.json", id="person", keep_id=True)
        first = released.toPandas()
        pd.testing.assert_frame_equal(released.toPandas(), first, check_exact=True)
        kill_executors()
        with pytest.raises(Exception, match="records were not admitted, or changed since"):
            released.toPandas()

    def test_names_with_dots_are_columns(self, spark, tmp_path):
        import scumble.spark

        people = made_up(100).rename(columns={"age": "age.in.years", "person": "per`son.id"})
        own = scumble.design("direct", schema={"age.in.years": (0, 100)}, epsilon=1.0)
        released, _ = scumble.spark.release(spark.createDataFrame(people), own, tmp_path / "ticket.json", id="per`son.id", keep_id=True)
        assert released.columns == ["per`son.id", "age.in.years"] and len(released.toPandas()) == 100

    def test_what_is_wrong_is_said_without_its_value(self, spark, design, people, ledger, tmp_path):
        import scumble.spark

        how = dict(id="person", ledger=ledger, dataset="survey")
        people.loc[2999, "smokes"] = "sekrit"
        with pytest.raises(scumble.InvalidRecords) as raised:
            scumble.spark.release(spark.createDataFrame(people).repartition(2), design, tmp_path / "t.json", **how)
        assert "smokes" in str(raised.value) and "sekrit" not in str(raised.value)
        people.loc[2999, ["smokes", "person"]] = ["no", "p0"]
        with pytest.raises(ValueError, match="person"):
            scumble.spark.release(spark.createDataFrame(people).repartition(2), design, tmp_path / "t.json", **how)
        with pytest.raises(KeyError, match="age"):
            scumble.spark.release(spark.createDataFrame(people.drop(columns="age")), design, tmp_path / "t.json", **how)
        assert spent(ledger) == 0 and not (tmp_path / "t.json").exists()

    def test_the_chapters_python_runs(self, spark, people, tmp_path):
        chapter = (Path(__file__).parents[2] / "guide" / "chapters" / "clusters.md").read_text(encoding="utf-8")
        (block,) = re.findall(r"```py\n(.*?)```", chapter, re.DOTALL)
        for folder in ["private", "public", "shared"]:
            (tmp_path / folder).mkdir()
            block = block.replace(f'"/{folder}/', f'"{tmp_path}/{folder}/')
        schema = "".join(
            f"[[column]]\nname = {name!r}\n" + kind + "\n"
            for name, kind in [
                ("age", "kind = 'real'\nlower = 0.0\nupper = 100.0"),
                ("children", "kind = 'integer'\nlower = 0\nupper = 10"),
                ("smokes", "kind = 'category'\nlevels = ['no', 'yes']"),
            ]
        )
        (tmp_path / "people.toml").write_text(schema)
        people.to_parquet(tmp_path / "private" / "people")
        exec(block.replace("people.toml", str(tmp_path / "people.toml")), {"spark": spark})
        assert len(pd.read_parquet(tmp_path / "public" / "people")) == len(people)
        assert json.loads((tmp_path / "public" / "card.json").read_text())["records"] == len(people)

    def test_reports_are_collected_as_on_one_machine(self, spark, tmp_path):
        import scumble.spark

        people = made_up(5000)
        reports = scumble.design("pair-response", schema=SCHEMA, target="smokes", epsilon=4.0, people=len(people))
        ticket = tmp_path / "ticket.json"
        released, _ = scumble.spark.release(spark.createDataFrame(people).repartition(4), reports, ticket, id="person", keep_id=True)
        made = released.orderBy("person").drop("person")
        collected = scumble.spark.collect(made, reports, records=1000, seed=1)
        own = reports.release(people.sort_values("person"), ticket=ticket, id="person")
        expected = reports.collect(own, records=1000, seed=1)
        pd.testing.assert_frame_equal(pd.DataFrame(collected.to_pandas()), expected, check_exact=True)
