"""Files of a folder, by their names."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from goldsmith.storage.files import FileNameUnreadable, list_files


def test_a_name_that_is_no_text_is_refused_with_a_code(tmp_path: Path) -> None:
    storage: Any = SimpleNamespace(address=lambda location: str(tmp_path))
    (tmp_path / "é 日本 \u200b.csv").write_text("id\n1\n", encoding="utf-8")
    assert [file.path for file in list_files("s3://b/x/", storage)] == [
        "s3://b/x/é 日本 \u200b.csv"
    ]
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.csv")).write_text("id\n1\n", encoding="utf-8")
    with pytest.raises(FileNameUnreadable, match=r"\\xff\.csv"):
        list_files("s3://b/x/", storage)
