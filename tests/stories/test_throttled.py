"""Killed between micro-batches, the next run of a throttled stage loads everything exactly once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from stories.one_stage import Line, LineTarget
from stories.shared_jvm import WarmSpark, warm_spark

#: Two records, two files or two rows make a micro-batch; they come back in no time.
THROTTLES = """
INSERT INTO throttles (throttle_id, entity_type, entity_id, metric, threshold, burst) VALUES
  ('read', 'source', 'line_raw', 'records_per_second', 10000, 4),
  ('load', 'target', 'line_kept', 'records_per_second', 10000, 4),
  ('slots', 'source', 'line_raw', 'concurrent_stages', 1, NULL)
"""
POINTS = ("micro-batch-read:2", "micro-batch-loaded:1", "before-publish")


@pytest.fixture(scope="module")
def warm() -> Iterator[WarmSpark]:
    with warm_spark() as spark:
        yield spark


@pytest.mark.parametrize(("kind", "mode"), [("lake", "append"), ("duckdb", "merge")])
def test_killed_between_micro_batches_the_next_run_is_right(
    tmp_path: Path, warm: WarmSpark, kind: str, mode: str
) -> None:
    line = Line.make(tmp_path / "line", mode, LineTarget(kind=kind), warm.environ)
    line.ask(THROTTLES)
    published: Counter[tuple[object, ...]] = Counter()
    for number, point in enumerate(POINTS):
        for file in range(3):
            line.bring(3 * number + file)
        killed = line.run(fault=point)
        warm.end_spark()
        assert killed.returncode == -9, f"{point} was never met:\n{killed.stdout}{killed.stderr}"
        # Whatever was loaded, no reader sees it before the publish.
        assert line.rows() == published, f"after {point}"
    done = line.run()
    warm.end_spark()

    assert done.returncode == 0, done.stdout + done.stderr
    assert line.rows() == line.expected()
    assert line.leftovers() == {}
    assert line.ask("SELECT * FROM throttle_leases") == []
    staging = line.folder / ".goldsmith" / "staging"
    assert not staging.exists() or list(staging.iterdir()) == []
    if kind == "duckdb":
        file = line.folder / ".goldsmith" / "warehouse.duckdb"
        assert not _staging_tables(file)


def _staging_tables(file: Path) -> list[str]:
    import duckdb

    query = "SELECT table_name FROM duckdb_tables() WHERE starts_with(table_name, 'load_')"
    with closing(duckdb.connect(str(file), read_only=True)) as connection:
        return [row[0] for row in connection.execute(query).fetchall()]
