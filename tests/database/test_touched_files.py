"""The ledger of files knows a touched file by its new etag, and forgets no earlier content."""

from __future__ import annotations

from datetime import UTC, datetime

import sqlalchemy as sa

from goldsmith.engine import ledger
from goldsmith.journal.definitions import input_files
from goldsmith.journal.journal import Journal
from goldsmith.planning.input_selection import Consumed
from goldsmith.storage.files import ListedFile

NOON = datetime(2026, 11, 1, 12, tzinfo=UTC)


def seen(etag: str, checksum: str) -> ListedFile:
    return ListedFile(path="s3://raw/a", size=3, etag=etag, modified_at=NOON, checksum=checksum)


def test_a_touched_file_takes_its_new_etag_and_only_where_its_content_was_noted(
    journal: Journal,
) -> None:
    with journal.writing() as connection:
        for token, file in ((1, seen("1-3", "old")), (2, seen("2-3", "new"))):
            for consumer in ("p-1", "p-2"):
                consumed = Consumed(files={"raw": [file]})
                ledger.note(connection, consumer, f"s{token}", token, consumed)
            ledger.count(connection, f"s{token}")
        touched = [("raw", "s3://raw/a", "2-3#new", "3-3#new")]
        ledger.note_touched(connection, "p-1", touched)
        ledger.note_touched(connection, "p-1", touched)
    columns = (input_files.c.consumer, input_files.c.stage_run_id, input_files.c.etag)
    with journal.reading() as connection:
        found = {tuple(row) for row in connection.execute(sa.select(*columns))}
    assert found == {
        ("p-1", "s1", "1-3#old"),
        ("p-1", "s2", "3-3#new"),
        ("p-2", "s1", "1-3#old"),
        ("p-2", "s2", "2-3#new"),
    }
