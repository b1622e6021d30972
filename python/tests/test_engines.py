"""Engines that compute again: one release, one charge, and the bits of one process."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
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


class TestDask:
    """Two worker processes."""

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
        """Two processes at once, with one ticket and one ledger."""
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


class TestPolars:
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
    """The same frame on Spark, with a side file of everything that any attempt computes."""
    folder = str(folder)

    def written(batches):
        import pyarrow as pa

        for batch in batches:
            record(folder, pa.Table.from_batches([batch]).to_pandas())
            yield batch

    return df.mapInArrow(written, df.schema)


@pytest.mark.spark
class TestSpark:
    """A driver and two executors, each a process of its own."""

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
        (folder / "killed").touch()  # not while it is computed first
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
        assert nodes == ["Filter", "MapInArrow", "FileScan"], plan
        assert "PushedFilters: []" in plan
        assert released.count() == len(people)

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

    def test_the_readmes_python_runs(self, spark, design, people, ledger, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        readme = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
        block = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)[2].replace("/shared/", f"{tmp_path}/")
        block = block.replace('"released.parquet"', f'"{tmp_path}/released.parquet"')
        exec(block, {"df": spark.createDataFrame(people), "design": design, "ledger": ledger})
        assert len(pd.read_parquet(tmp_path / "released.parquet")) == len(people) and spent(ledger) == 2.0

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
