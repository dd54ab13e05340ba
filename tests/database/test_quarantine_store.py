"""A quarantine table that is gone is refused; it is not reported as an empty quarantine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from goldsmith.engine.quarantine import quarantine_store
from goldsmith.engine.quarantine.quarantine_store import NoQuarantine, QuarantineGone
from goldsmith.journal import stage_runs
from goldsmith.journal.events import StageFailed, StageFinished
from goldsmith.journal.tables import StageRun
from goldsmith.runtime import Runtime


@pytest.fixture
def runtime(catalog_url: str, tmp_path: Path) -> Iterator[Runtime]:
    (tmp_path / "goldsmith.toml").write_text("", encoding="utf-8")
    environ = {"GOLDSMITH_CATALOG__URL": catalog_url}
    opened = Runtime.of(environ, project=tmp_path, environment=None, cwd=tmp_path)
    yield opened
    opened.close()


def test_a_quarantine_table_that_is_gone_is_refused(runtime: Runtime) -> None:
    journal, storage = runtime.journal, runtime.storage
    assert quarantine_store.quarantined_rows(storage, journal, ["visits", "orders"]) == []
    for number, (target, end) in enumerate(
        [
            ("orders", StageFailed(error_code="X", error_message="x")),
            ("visits", StageFinished(rows_quarantined=3)),
        ]
    ):
        begun = StageRun(
            stage_run_id=f"s{number}", run_id="r", pipeline_id="p", stage_order=1, target_id=target
        )
        stage_runs.start_stage_run(journal, begun)
        stage_runs.finish_stage_run(journal, f"s{number}", end)

    # What a failed stage run quarantined is read again: nothing of it is lost.
    assert quarantine_store.quarantined_rows(storage, journal, ["orders"], are_declared=True) == []
    with pytest.raises(NoQuarantine):
        quarantine_store.discard(storage, journal, "orders")
    with pytest.raises(QuarantineGone, match="3 rows of 'visits'"):
        quarantine_store.quarantined_rows(storage, journal, ["orders", "visits"], are_declared=True)
    with pytest.raises(QuarantineGone):
        quarantine_store.discard(storage, journal, "visits")
