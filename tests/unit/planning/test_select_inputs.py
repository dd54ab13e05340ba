"""What a stage reads and why: one pure function, case by case."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import goldsmith
from goldsmith.errors import GoldsmithError
from goldsmith.journal.tables import StageRun
from goldsmith.planning import reasons
from goldsmith.planning.definition import definition_of
from goldsmith.planning.input_selection import Consumed, InputSelection
from goldsmith.planning.lake import TableHistory, TableSnapshot
from goldsmith.planning.lost_tables import TargetGone
from goldsmith.planning.observed import (
    Observed,
    PastState,
    SeenFiles,
    SeenTable,
    SeenWarehouseTable,
    SeenWindow,
    UnnamedRows,
)
from goldsmith.planning.reasons import ReasonCode
from goldsmith.planning.run_options import Replay, RunOptions
from goldsmith.planning.select_inputs import select_inputs
from goldsmith.planning.stage_context import StageContext
from goldsmith.planning.window import Window
from goldsmith.storage.files import ListedFile
from unit.planning.rows import neighbourhoods, rows_of, snapshot

NOW = datetime(2026, 1, 31, 8, tzinfo=UTC)
JANUARY = Window(start=datetime(2026, 1, 1, tzinfo=UTC), end=datetime(2026, 2, 1, tzinfo=UTC))
MARCH = Window(start=datetime(2026, 3, 1, tzinfo=UTC), end=datetime(2026, 4, 1, tzinfo=UTC))


def context(mode: str = "append", source: str = "raw", **stage: Any) -> StageContext:
    """A stage that reads files (raw), a lake table (bronze) or a warehouse table (sales)."""
    row = {
        "pipeline_id": "p",
        "stage_order": 2,
        "layer": "bronze" if source == "raw" else "silver",
        "source_id": source,
        "target_id": "out",
        "write_mode": mode,
        "keys": ["id"],
        **stage,
    }
    tables: dict[str, list[dict[str, Any]]] = {
        "pipelines": [{"pipeline_id": "p"}],
        "sources": [{"source_id": "raw", "s3_path": "s3://shop/raw/", "file_format": "csv"}],
        "targets": [
            {"target_id": "bronze", "location": "s3://shop/bronze/", "type": "s3"},
            {"target_id": "sales", "location": "shop.sales", "type": "redshift"},
            {"target_id": "out", "location": "s3://shop/out/", "type": "s3"},
        ],
        "stages": [
            {"pipeline_id": "q", "stage_order": 1, "source_id": "raw", "target_id": "bronze"},
            {"pipeline_id": "q", "stage_order": 2, "source_id": "bronze", "target_id": "sales"},
            row,
        ],
    }
    return neighbourhoods(snapshot(rows_of(tables)))["p-2"]


def file(name: str, etag: str = "v1") -> ListedFile:
    return ListedFile(path=f"s3://shop/raw/{name}", size=1000, etag=etag, modified_at=NOW)


A, B, C = file("a.csv"), file("b.csv"), file("c.csv")
KNOWN = {A.path: (1000, "v0"), B.path: (1000, "v1"), C.path: (1000, "v1")}
GONE = TargetGone(stage="p-2", target="out", table="lake.bronze.out")


def files(new: list[ListedFile], **more: Any) -> Callable[[StageContext], Observed]:
    """Three files are listed; these are new."""
    seen = {"listed": [A, B, C], "new": new, **more}
    return lambda stage: Observed(inputs=(SeenFiles(dataset=stage.inputs[0], **seen),))


def table(operation: str | None, **more: Any) -> Callable[[StageContext], Observed]:
    """The stage read snapshot 1; snapshot 2 was made from it by this operation."""
    snapshots = {"1": TableSnapshot(parent=None, operation="append")}
    if operation is not None:
        snapshots["2"] = TableSnapshot(parent="1", operation=operation, **more)
    history = TableHistory(max(snapshots), snapshots)
    return history_of(history, "1")


def history_of(history: TableHistory, read_up_to: str | None) -> Callable[[StageContext], Observed]:
    return lambda stage: Observed(
        inputs=(SeenTable(dataset=stage.inputs[0], history=history, read_up_to=read_up_to),)
    )


REBUILT = TableHistory(
    "9",
    {
        "1": TableSnapshot(parent=None, operation="append"),
        "9": TableSnapshot(parent=None, operation="append"),
    },
)
EXPIRED = TableHistory("9", {"9": TableSnapshot(parent="8", operation="append")})


@dataclass(frozen=True, kw_only=True)
class Case:
    stage: Mapping[str, Any] = field(default_factory=dict)
    seen: Callable[[StageContext], Observed]
    more: Mapping[str, Any] = field(default_factory=dict)
    options: RunOptions = field(default_factory=RunOptions)
    codes: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    since: str | None = None
    starts_over: bool = False
    rewritten: tuple[str, ...] = ()
    refused: str | None = None


FROM_TABLE = {"source": "bronze"}
CASES = {
    "a new file is read": Case(seen=files([C]), codes=("new_files",), reads=("c.csv",)),
    "nothing new": Case(seen=files([], known=KNOWN)),
    "no file there": Case(seen=files([], listed=[])),
    "a merge reads a rewritten file again": Case(
        stage={"mode": "merge"},
        seen=files([A], known=KNOWN),
        codes=("new_files", "rewritten_files"),
        reads=("a.csv",),
    ),
    "an append replaces the rows of a rewritten file": Case(
        seen=files([A], known=KNOWN),
        codes=("new_files", "rewritten_files"),
        reads=("a.csv",),
        rewritten=("a.csv",),
    ),
    "an append also reads the files that were deduplicated with it": Case(
        seen=files([A], known=KNOWN, deduplicated=frozenset([B.path])),
        codes=("new_files", "rewritten_files", "deduplicated_files"),
        reads=("a.csv", "b.csv"),
        rewritten=("a.csv", "b.csv"),
    ),
    "a file deduplicated with a rewritten one is gone": Case(
        seen=files([A], known=KNOWN, deduplicated=frozenset(["s3://shop/raw/z.csv"])),
        refused="z.csv is gone",
    ),
    "rows of a rewritten file cannot be found": Case(
        stage={"layer": "silver", "transform_sql": "SELECT id FROM raw"},
        seen=files([A], known=KNOWN),
        codes=("new_files", "rewritten_files"),
        reads=("a.csv",),
        rewritten=("a.csv",),
        refused="do not say which file",
    ),
    "quarantined rows may come from a rewritten file": Case(
        stage={"mode": "merge"},
        seen=files([A], known=KNOWN),
        more={"unnamed": (UnnamedRows(rows=2, files=frozenset([A.path, B.path])),)},
        codes=("new_files", "rewritten_files"),
        reads=("a.csv",),
        refused="2 live rows of its quarantine",
    ),
    "quarantined rows of a load whose files are all read again": Case(
        stage={"mode": "merge"},
        seen=files([A], known=KNOWN),
        more={"unnamed": (UnnamedRows(rows=2, files=frozenset([A.path])),)},
        codes=("new_files", "rewritten_files"),
        reads=("a.csv",),
    ),
    "an overwrite reads every file if one is new": Case(
        stage={"mode": "overwrite"},
        seen=files([C]),
        codes=("new_files",),
        reads=("a.csv", "b.csv", "c.csv"),
    ),
    "a table that was never read": Case(
        stage=FROM_TABLE,
        seen=history_of(TableHistory("9", EXPIRED.snapshots), None),
        codes=("never_read",),
        reads=("9",),
    ),
    "a table without rows": Case(stage=FROM_TABLE, seen=history_of(TableHistory(None, {}), None)),
    "no new snapshot": Case(stage=FROM_TABLE, seen=table(None), reads=("1",), since="1"),
    "a compaction is nothing new": Case(
        stage=FROM_TABLE, seen=table("replace"), reads=("2",), since="1"
    ),
    "appended rows": Case(
        stage=FROM_TABLE, seen=table("append"), codes=("new_snapshots",), reads=("2",), since="1"
    ),
    "an append starts over after its input was merged": Case(
        stage=FROM_TABLE,
        seen=table("overwrite"),
        codes=("new_snapshots",),
        reads=("2",),
        starts_over=True,
    ),
    "a merge reads the changes of a merged input": Case(
        stage={**FROM_TABLE, "mode": "merge"},
        seen=table("overwrite"),
        codes=("new_snapshots",),
        reads=("2",),
        since="1",
    ),
    "an input that started over": Case(
        stage=FROM_TABLE,
        seen=table("append", started_over=True),
        codes=("input_restored",),
        reads=("2",),
        starts_over=True,
    ),
    "an input that was rebuilt": Case(
        stage={**FROM_TABLE, "mode": "merge"},
        seen=history_of(REBUILT, "1"),
        codes=("input_restored",),
        reads=("9",),
        starts_over=True,
    ),
    "an append whose snapshot expired starts over": Case(
        stage=FROM_TABLE,
        seen=history_of(EXPIRED, "1"),
        codes=("snapshot_expired",),
        reads=("9",),
        starts_over=True,
    ),
    "a merge whose snapshot expired reads everything": Case(
        stage={**FROM_TABLE, "mode": "merge"},
        seen=history_of(EXPIRED, "1"),
        codes=("snapshot_expired",),
        reads=("9",),
    ),
    "a warehouse table is always read": Case(
        stage={"source": "sales", "mode": "overwrite"},
        seen=lambda stage: Observed(inputs=(SeenWarehouseTable(dataset=stage.inputs[0]),)),
        codes=("warehouse_table",),
    ),
    "SQL that asks for the time": Case(
        stage={"mode": "merge", "transform_sql": "SELECT *, current_date AS day FROM raw"},
        seen=files([]),
        codes=("volatile_sql",),
    ),
    "a changed definition of an overwrite": Case(
        stage={"mode": "overwrite"},
        seen=files([], known=KNOWN),
        more={"definition_changed": True},
        codes=("definition_changed",),
        reads=("a.csv", "b.csv", "c.csv"),
    ),
    "a changed definition of an append": Case(
        seen=files([], known=KNOWN), more={"definition_changed": True}
    ),
    "the target of an append is gone": Case(
        seen=files([C]), more={"problem": GONE}, refused="is gone"
    ),
    "the target of an overwrite is gone": Case(
        stage={"mode": "overwrite"},
        seen=files([], known=KNOWN),
        more={"problem": GONE},
        codes=("target_lost",),
        reads=("a.csv", "b.csv", "c.csv"),
    ),
    "a target that could not be checked": Case(
        seen=files([C]),
        more={"check_error": GONE},
        codes=("new_files",),
        reads=("c.csv",),
        refused="is gone",
    ),
    "a target that could not be checked, and nothing new": Case(
        seen=files([]), more={"check_error": GONE}
    ),
    "a stage before it in the plan writes its input": Case(
        stage=FROM_TABLE,
        seen=table(None),
        more={"upstream": ("q-1",)},
        codes=("upstream",),
        reads=("1",),
        since="1",
    ),
    "a full refresh": Case(
        seen=files([], known=KNOWN),
        options=RunOptions(full_refresh=True),
        codes=("full_refresh",),
        reads=("a.csv", "b.csv", "c.csv"),
        starts_over=True,
    ),
    "a full refresh of a target that was emptied already": Case(
        seen=files([], known=KNOWN),
        more={"emptied": True},
        options=RunOptions(full_refresh=True),
        codes=("full_refresh",),
        reads=("a.csv", "b.csv", "c.csv"),
    ),
    "a full refresh of a target that is gone": Case(
        seen=files([C]),
        more={"problem": GONE},
        options=RunOptions(full_refresh=True),
        codes=("full_refresh", "new_files"),
        reads=("a.csv", "b.csv", "c.csv"),
        starts_over=True,
    ),
    "a backfill of files": Case(
        seen=files([], known=KNOWN),
        more={"window": SeenWindow(listed=[A, B])},
        options=RunOptions(window=JANUARY),
        codes=("backfill",),
        reads=("a.csv", "b.csv"),
        rewritten=("a.csv", "b.csv"),
    ),
    "a backfill without a file in its window": Case(
        seen=files([]),
        more={"window": SeenWindow(listed=[A, B])},
        options=RunOptions(window=MARCH),
    ),
    "a backfill of rows that has no time column": Case(
        stage=FROM_TABLE,
        seen=table("append"),
        more={"window": SeenWindow()},
        options=RunOptions(window=JANUARY),
        refused="no watermark_column",
    ),
    "a backfill of rows reads no further than the stage had read": Case(
        stage={**FROM_TABLE, "watermark_column": "at"},
        seen=table("append"),
        more={"window": SeenWindow(input_columns=["at"], target_columns=["at"])},
        options=RunOptions(window=JANUARY),
        codes=("backfill", "new_snapshots"),
        reads=("1",),
    ),
    "a backfill of rows whose time a replay changed": Case(
        stage={**FROM_TABLE, "watermark_column": "at"},
        seen=table("append"),
        more={"window": SeenWindow(moved_days=frozenset(["2026-01-05"]))},
        options=RunOptions(window=JANUARY),
        refused="were replayed with another at",
    ),
    "a replay reads no input": Case(
        seen=files([C]), options=RunOptions(replay=Replay()), codes=("replay",)
    ),
    "a past state nobody remembers": Case(
        seen=lambda stage: Observed(past=PastState(stage_run_id="try_1")),
        options=RunOptions(as_of="try_1"),
        refused="nobody remembers",
    ),
}


def selected(case: Case) -> InputSelection:
    stage = context(**case.stage)
    return select_inputs(stage, replace(case.seen(stage), **case.more), case.options)


def short(path: str) -> str:
    return path.rsplit("/", 1)[-1]


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_what_a_stage_reads_and_why(case: Case) -> None:
    made = selected(case)
    read = [short(f.path) for seen in made.consumed.files.values() for f in seen]
    if case.refused is not None:
        assert isinstance(made.refused, GoldsmithError)
        assert case.refused in str(made.refused)
    else:
        assert made.refused is None
    assert tuple(why.code for why in made.reasons) == case.codes
    assert made.runs == bool(case.codes)
    assert (*read, *made.consumed.snapshots.values()) == case.reads
    assert set(made.since.values()) <= {case.since}
    assert made.starts_over == case.starts_over
    assert tuple(short(path) for path in made.rewritten) == case.rewritten


def past(stage: StageContext, unchanged: list[ListedFile]) -> Observed:
    name = stage.inputs[0].dataset_id
    run = StageRun(
        stage_run_id="try_1",
        run_id="run_1",
        pipeline_id="p",
        stage_order=2,
        attempt=1,
        definition=definition_of(stage),
    )
    return Observed(
        past=PastState(
            stage_run_id="try_1",
            stage_run=run,
            consumed=Consumed(files={name: [A, B]}),
            unchanged={name: unchanged},
        )
    )


def test_a_past_state_is_read_from_what_the_stage_had_read_then() -> None:
    stage, options = context("merge"), RunOptions(as_of="try_1")
    made = select_inputs(stage, past(stage, [A, B]), options)
    assert [why.code for why in made.reasons] == ["past_state"]
    assert list(made.consumed.files.values()) == [[A, B]]
    assert made.starts_over
    gone = select_inputs(stage, past(stage, [A]), options).refused
    assert "1 of the files it read are gone or rewritten" in str(gone)


def test_a_stage_with_nothing_new_says_what_each_input_has_instead() -> None:
    assert selected(CASES["a compaction is nothing new"]).because == (
        "nothing new of its inputs (bronze: no new rows: its files were only compacted)"
    )
    missing = Case(seen=files([], listed=[], missing="there is no file at s3://shop/raw/"))
    assert selected(missing).because == (
        "nothing new of its inputs; there is no file at s3://shop/raw/"
    )


def test_a_backfill_without_a_file_says_nothing_of_new_files_outside_its_window() -> None:
    case = replace(CASES["a backfill without a file in its window"], seen=files([C]))
    assert selected(case).because == (
        "nothing new of its inputs; no file of raw is from 2026-03-01 to 2026-04-01"
    )


def test_old_rows_of_a_changed_definition_are_a_note_and_no_reason() -> None:
    made = selected(CASES["a changed definition of an append"])
    assert "only `goldsmith run --full-refresh` brings older rows in line" in made.because


def test_an_answer_that_changed_since_the_plan_is_seen() -> None:
    plan = selected(CASES["a new file is read"])
    assert not selected(CASES["a new file is read"]).differs_from(plan)
    assert selected(CASES["nothing new"]).differs_from(plan)
    assert selected(Case(seen=files([B]), codes=())).differs_from(plan)
    undecided = selected(CASES["a stage before it in the plan writes its input"])
    assert not selected(CASES["appended rows"]).differs_from(undecided)


def test_every_reason_has_one_sentence_and_a_case() -> None:
    sentences = reasons._SENTENCES
    assert set(sentences) == set(ReasonCode)
    assert len(set(sentences.values())) == len(sentences)
    tried = {code for case in CASES.values() for code in case.codes} | {"past_state"}
    to_run = {code for code in ReasonCode if code in _before("NOTHING_NEW")}
    assert to_run - tried == set()


def _before(name: str) -> list[ReasonCode]:
    codes = list(ReasonCode)
    return codes[: codes.index(ReasonCode[name])]


def test_the_sentence_of_a_reason_is_written_in_one_file() -> None:
    sources = {
        path: path.read_text("utf-8") for path in Path(goldsmith.__file__).parent.rglob("*.py")
    }
    home = Path(inspect.getfile(reasons))
    fixed = [max(re.split(r"\{.*?\}", text), key=len) for text in reasons._SENTENCES.values()]
    copies = [
        f"{path.name}: {part}"
        for path, text in sources.items()
        if path != home
        for part in fixed
        if len(part) > 15 and part.strip() in text
    ]
    assert copies == []
