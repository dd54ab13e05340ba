"""Which quarantined rows are live, from what the journal says of stage runs and their files."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from goldsmith.engine import ledger
from goldsmith.engine.publish.restore_record import finish, intend
from goldsmith.engine.quarantine.liveness import liveness, liveness_of, moved_days
from goldsmith.journal import stage_runs
from goldsmith.journal.definitions import stage_ledgers
from goldsmith.journal.events import StageFailed, StageFinished
from goldsmith.journal.journal import Journal
from goldsmith.journal.tables import Restore, StageRun
from goldsmith.planning.input_selection import Consumed
from goldsmith.planning.lake import TableHistory, TableSnapshot
from goldsmith.storage.files import ListedFile

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


def publish(
    journal: Journal,
    number: int,
    *files: str,
    ends: bool = True,
    ledger_id: str = "p-1",
    dataset: str = "raw",
    target: str = "t",
    **facts: Any,
) -> None:
    """Stage run s<number> that read these files, each as path or path=version."""
    facts["ledger"] = {"ledger_id": ledger_id, "source_id": "raw"}
    seen = [
        ListedFile(path=path, size=1, etag=version, modified_at=LONG_AGO)
        for path, _equals, version in (file.partition("=") for file in files)
    ]
    mine = f"s{number}"
    with journal.writing() as connection:
        ledger.note(connection, ledger_id, mine, number, Consumed(files={dataset: seen}))
        begun = StageRun(
            stage_run_id=mine, run_id="r", pipeline_id="p", stage_order=1, target_id=target,
            token=number, facts=facts,
        )  # fmt: skip
        # A clock that goes back: the second stage run says an earlier time than the first.
        at = LONG_AGO.replace(year=2030 - number)
        stage_runs.start_stage_run(journal, begun, at=at, connection=connection)
        if ends:
            ledger.count(connection, mine)
            stage_runs.finish_stage_run(journal, mine, StageFinished(), connection=connection)


def live(journal: Journal, *rows: tuple[int, str | None], **more: Any) -> list[bool]:
    """Whether rows are live, each by the number of its stage run and its file."""
    now = liveness(journal, "t", **more)
    records = [
        {"_stage_run_id": f"s{run}", "_source_file": file, "_replayed_by": None}
        for run, file in rows
    ]
    return [now.is_live(row) for row in records]


def test_a_row_of_a_published_stage_run_is_live_and_others_are_unpublished(
    journal: Journal,
) -> None:
    publish(journal, 1, "a")
    publish(journal, 2, "b", ends=False)
    stage_runs.finish_stage_run(journal, "s2", StageFailed(error_code="X", error_message="x"))
    assert live(journal, (1, "a"), (2, "b"), (3, "c")) == [True, False, False]
    row = {"_stage_run_id": "s2", "_source_file": "b", "_replayed_by": None}
    assert liveness(journal, "t").is_unpublished(row)


@pytest.mark.parametrize("facts", [{"starts_over": True}, {"supersedes": "everything"}])
def test_a_stage_run_that_starts_over_replaces_earlier_rows_whatever_the_clock_said(
    journal: Journal, facts: dict[str, Any]
) -> None:
    publish(journal, 1, "a")
    publish(journal, 2, "a", **facts)
    publish(journal, 3, "b")
    assert live(journal, (1, "a"), (2, "a"), (3, "b")) == [False, True, True]


def test_a_file_replaces_its_rows_if_it_was_rewritten_or_backfilled(journal: Journal) -> None:
    publish(journal, 1, "a=1", "b=1", "c=1", "d=1")
    publish(journal, 2, "a=2", "c=1")
    publish(journal, 3, "b=1", supersedes="files")
    files = [(1, "a"), (1, "b"), (1, "c"), (1, "d"), (2, "a"), (2, "c"), (3, "b")]
    assert live(journal, *files) == [False, False, True, True, True, True, True]


@pytest.mark.parametrize(
    ("facts", "file"),
    [
        pytest.param({}, "a=2", id="rewritten"),
        pytest.param({"supersedes": "files"}, "a=1", id="backfilled"),
        pytest.param({"supersedes": "everything"}, "a=1", id="read from the beginning"),
    ],
)
def test_what_one_stage_reads_again_takes_no_row_of_another_stage_that_writes_the_target(
    journal: Journal, facts: dict[str, Any], file: str
) -> None:
    publish(journal, 1, "a=1")
    publish(journal, 2, "a=1", ledger_id="p-2")
    publish(journal, 3, file, ledger_id="p-2", **facts)
    rows = [(1, "a"), (1, None), (2, "a"), (2, None), (3, "a")]
    assert live(journal, *rows) == [True, True, False, False, True]
    publish(journal, 4, "a=1", starts_over=True)
    assert live(journal, *rows, (4, "a")) == [False] * 5 + [True]


def test_a_full_refresh_by_another_id_of_a_warehouse_table_replaces_its_quarantined_rows(
    journal: Journal,
) -> None:
    publish(journal, 1, "a")
    publish(journal, 2, "b", ledger_id="u-1", target="u", starts_over=True)
    assert live(journal, (1, "a")) == [True]
    table = {"location": "shop.orders", "table_name": "redshift:shop.orders"}
    with journal.writing() as connection:
        for name, target in (("p-1", "t"), ("u-1", "u")):
            row = {"ledger_id": name, "target_id": target, **table}
            connection.execute(stage_ledgers.insert(), [row])
    assert live(journal, (1, "a")) == [False]


def test_an_append_that_always_reads_all_adds_quarantined_rows_as_it_adds_rows(
    journal: Journal,
) -> None:
    publish(journal, 1, "a=1", supersedes="nothing")
    publish(journal, 2, "a=2", supersedes="nothing")
    assert live(journal, (1, "a"), (2, "a")) == [True, True]


def test_the_records_of_a_look_up_are_those_that_were_read_last(journal: Journal) -> None:
    publish(journal, 1, "b=1", dataset="look-up")
    publish(journal, 2, "b=1", dataset="look-up")
    assert live(journal, (1, "b"), (2, "b")) == [False, True]


def test_a_quarantine_that_has_its_new_name_before_the_journal_is_judged_by_the_old_one(
    journal: Journal,
) -> None:
    publish(journal, 1, "a")
    publish(journal, 2, "b", ends=False)
    stage_runs.finish_stage_run(journal, "s2", StageFailed(error_code="X", error_message="x"))
    rows = [
        {"_stage_run_id": name, "_source_file": file, "_replayed_by": None}
        for name, file in (("s1", "a"), ("s2", "b"), ("forgotten", "c"))
    ]
    now = liveness_of(journal, "new_name", rows)
    assert [now.is_live(row) for row in rows] == [True, False, False]
    assert [now.is_unpublished(row) for row in rows] == [False, True, True]


def test_days_of_rows_replayed_with_another_time_are_known_until_all_is_read_again(
    journal: Journal,
) -> None:
    publish(journal, 1, "a")
    publish(journal, 2, supersedes="replayed rows", moved_days=["2026-01-01", "2026-01-05"])
    assert moved_days(journal, "t") == {"2026-01-01", "2026-01-05"}
    publish(journal, 3, "a", starts_over=True)
    assert moved_days(journal, "t") == set()


def test_a_row_without_a_file_goes_when_all_files_of_its_stage_run_are_read_again(
    journal: Journal,
) -> None:
    publish(journal, 1, "a=1", "look-up=1")
    publish(journal, 2, "b=1", "look-up=1")
    assert live(journal, (1, None), (2, None)) == [True, True]
    publish(journal, 3, "a=2", "look-up=1")
    assert live(journal, (1, None), (2, None), (3, None)) == [False, True, True]


def test_a_mark_counts_while_its_stage_run_is_in_force(journal: Journal) -> None:
    publish(journal, 1, "a")
    publish(journal, 2, supersedes="replayed rows")
    row = {"_stage_run_id": "s1", "_source_file": "a", "_replayed_by": "s2"}
    assert not liveness(journal, "t").is_live(row)
    restore = Restore(restore_id="x", dataset_id="t", from_snapshot="2", taken_back=("s2",))
    finish(journal, intend(journal, restore))
    assert liveness(journal, "t").is_live(row)


def test_where_a_process_died_the_table_says_what_is_in_force(journal: Journal) -> None:
    publish(journal, 1, "a=1")
    publish(journal, 2, "a=2", ends=False)
    first = TableSnapshot(parent=None, operation="append", stage_run_id="s1")
    second = TableSnapshot(parent="1", operation="append", stage_run_id="s2")
    before, after = TableHistory("1", {"1": first}), TableHistory("2", {"1": first, "2": second})
    assert live(journal, (1, "a"), (2, "a"), look=lambda: before) == [True, False]
    assert live(journal, (1, "a"), (2, "a"), look=lambda: after) == [False, True]
    intend(journal, Restore(restore_id="x", dataset_id="t", from_snapshot="2", taken_back=("s2",)))
    assert live(journal, (1, "a"), (2, "a"), look=lambda: after) == [False, True]
    assert live(journal, (1, "a"), (2, "a"), look=lambda: before) == [True, False]
