"""Random histories of files: what is published is what a plain model of them says, every time."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from goldsmith.journal.tables import StageRun
from spark.engine.conftest import Bench

#: The same files twice: into the lake, where each row names its file, and into a warehouse, where
#: none does.
STAGES = """
pipelines: [{pipeline_id: "@"}]
stages:
  - {pipeline_id: "@", stage_order: 1, source_id: "raw_@", target_id: "bronze_@",
     transform_sql: "WITH c AS (SELECT id FROM raw_@) SELECT * FROM c"}
  - {pipeline_id: "@", stage_order: 2, source_id: "raw_@", target_id: "gold_@", layer: gold,
     write_mode: append, transform_sql: "SELECT id FROM raw_@"}
sources:
  - {source_id: "raw_@", s3_path: "s3://raw/@/", file_format: jsonl, declared_schema: "id BIGINT"}
targets:
  - {target_id: "bronze_@", location: "s3://lake/bronze/@/", type: s3}
  - {target_id: "gold_@", location: "shop.gold_@", type: duckdb}
"""
Content = tuple[int, ...]
Step = tuple[Any, ...]

names = st.sampled_from(["a", "b", "c"])
contents = st.lists(st.sampled_from([1, 2, 3]), min_size=1, max_size=2).map(tuple)
changes = st.one_of(
    st.tuples(st.just("write"), names, contents),
    st.tuples(st.just("touch"), names),
    st.tuples(st.just("delete"), names),
    st.tuples(st.just("restore"), names),
    st.tuples(st.just("rename"), names, names),
    st.tuples(st.just("rename source")),
)
runs = st.sampled_from([("run",), ("run",), ("run",), ("refresh",), ("backfill",)])
#: Some changes, then a run.
histories = st.lists(
    st.tuples(st.lists(changes, min_size=1, max_size=3), runs), min_size=2, max_size=4
).map(lambda turns: [step for made, run in turns for step in (*made, run)])

EVERYTHING: list[Step] = [
    *(("write", "a", (1, 2)), ("write", "b", (2,)), ("run",)),
    *(("write", "a", (1, 3)), ("touch", "b"), ("run",)),
    *(("delete", "a"), ("write", "c", (3,)), ("rename source",), ("run",)),
    *(("restore", "a"), ("run",)),
    *(("touch", "a"), ("refresh",), ("touch", "c"), ("run",), ("write", "c", (1,)), ("backfill",)),
    *(("rename", "b", "a"), ("run",), ("delete", "c"), ("refresh",), ("restore", "c"), ("run",)),
]


def examples(number: int) -> settings:
    return settings(
        max_examples=number,
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    )


class Model:
    """What files hold, what was loaded of them, and what the two tables have to hold."""

    def __init__(self) -> None:
        self.files: dict[str, Content] = {}
        self.deleted: dict[str, Content] = {}
        #: By stage: the content each file had when it was loaded, and the rows there are.
        self.loaded: tuple[dict[str, Content], dict[str, Content]] = ({}, {})
        self.bronze: Counter[tuple[str, int]] = Counter()
        self.gold: Counter[int] = Counter()

    def run_bronze(self, *, anew: bool = False, again: bool = False) -> None:
        loaded = self.loaded[0]
        if anew:
            loaded.clear()
            self.bronze.clear()
        for name, content in self.files.items():
            if again or loaded.get(name) != content:
                for row in [row for row in self.bronze if row[0] == name]:
                    del self.bronze[row]
                self.bronze.update((name, number) for number in content)
                loaded[name] = content

    def run_gold(self, *, anew: bool = False) -> bool:
        """Whether it may run: without names of files no rows can be replaced."""
        loaded = self.loaded[1]
        if anew:
            loaded.clear()
            self.gold.clear()
        if any(name in loaded and loaded[name] != now for name, now in self.files.items()):
            return False
        for name, content in self.files.items():
            if name not in loaded:
                self.gold.update(content)
                loaded[name] = content
        return True


class Files:
    """The same history on disk, and the tables made of it."""

    def __init__(self, bench: Bench) -> None:
        self.bench = Bench(runtime=bench.runtime, spark=bench.spark)
        self.bench.apply(STAGES)
        self.folder = Path(bench.runtime.settings.address(f"s3://raw/{self.bench.tag}/"))
        self.folder.mkdir(parents=True, exist_ok=True)
        self.source = f"raw_{self.bench.tag}"
        self.written = 0

    def write(self, name: str, content: Content) -> None:
        lines = "".join(json.dumps({"id": number}) + "\n" for number in content)
        (self.folder / f"{name}.jsonl").write_text(lines)
        self.touch(name)

    def touch(self, name: str) -> None:
        # Never the same time twice, however quick the test is.
        self.written += 1
        at = 1_700_000_000 + self.written
        os.utime(self.folder / f"{name}.jsonl", (at, at))

    def delete(self, name: str) -> None:
        (self.folder / f"{name}.jsonl").unlink()

    def rename(self, name: str, other: str) -> None:
        (self.folder / f"{name}.jsonl").rename(self.folder / f"{other}.jsonl")

    def rename_source(self) -> None:
        old, self.source = self.source, f"{self.source}_"
        self.bench.sql(f"UPDATE sources SET source_id = '{self.source}' WHERE source_id = '{old}'")
        self.bench.sql(
            f"UPDATE stages SET source_id = '{self.source}', "
            f"transform_sql = replace(transform_sql, '{old}', '{self.source}') "
            f"WHERE source_id = '{old}'"
        )

    def run(self, selection: str = "@", **options: Any) -> dict[int, StageRun]:
        return self.bench.run(selection, **options)

    def bronze(self) -> Counter[tuple[str, int]]:
        found = self.bench.rows("bronze", "_source_file", "id")
        return Counter((Path(file).stem, number) for file, number in found)

    def gold(self) -> Counter[int]:
        file = self.bench.runtime.settings.warehouses["duckdb"].path
        with duckdb.connect(str(file), read_only=True) as connection:
            query = f"SELECT id FROM shop.gold_{self.bench.tag}"
            return Counter(number for (number,) in connection.execute(query).fetchall())


def change(files: Files, model: Model, step: Step) -> None:
    match step:
        case ("write", name, content):
            files.write(name, content)
            model.files[name] = content
        case ("touch", name) if name in model.files:
            files.touch(name)
        case ("delete", name) if name in model.files:
            files.delete(name)
            model.deleted[name] = model.files.pop(name)
        case ("restore", name) if name in model.deleted and name not in model.files:
            files.write(name, model.deleted[name])
            model.files[name] = model.deleted.pop(name)
        case ("rename", name, other) if name in model.files and name != other:
            files.rename(name, other)
            model.files[other] = model.files.pop(name)
        case ("rename source",):
            files.rename_source()


def run(files: Files, model: Model, how: str) -> None:
    if how == "backfill":
        done = files.run("stage:@-1", **{"from": "2000-01-01", "to": "2100-01-01"})
        model.run_bronze(again=True)
        may_run = None
    else:
        done = files.run(full_refresh=how == "refresh")
        model.run_bronze(anew=how == "refresh")
        may_run = model.run_gold(anew=how == "refresh")
    assert done[1].status in ("succeeded", "skipped"), done[1].error_message
    if may_run is not None:
        expected = None if may_run else "FileRewritten"
        assert done[2].error_code == expected, done[2].error_message


def tables_are_as_the_model(bench: Bench, history: list[Step]) -> None:
    files, model = Files(bench), Model()
    files.write("z", (9,))
    model.files["z"] = (9,)
    for step in (("run",), *history):
        if step[0] not in ("run", "refresh", "backfill"):
            change(files, model, step)
            continue
        run(files, model, step[0])
        assert files.bronze() == model.bronze
        assert files.gold() == model.gold
    assert not files.bench.leftovers()


@examples(1)
@given(history=histories)
@example(history=EVERYTHING)
def test_tables_are_what_a_model_of_their_files_says(bench: Bench, history: list[Step]) -> None:
    tables_are_as_the_model(bench, history)


@pytest.mark.soak
@examples(60)
@given(history=histories)
def test_tables_are_what_a_model_of_their_files_says_in_many_histories(
    bench: Bench, history: list[Step]
) -> None:
    tables_are_as_the_model(bench, history)
