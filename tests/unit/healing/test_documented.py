"""docs/healing.md has all that a remedy of one's own is given, and all it may answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from goldsmith.healing.answer import ADJUSTABLE
from goldsmith.healing.failure import Failure

PAGE = (Path(__file__).parents[3] / "docs" / "healing.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("key", sorted(ADJUSTABLE))
def test_each_key_of_adjust_is_explained(key: str) -> None:
    assert f"\n| `{key}` | " in PAGE


@pytest.mark.parametrize("key", sorted(Failure(code="DiskFull").as_plain()))
def test_each_key_of_the_failure_is_shown(key: str) -> None:
    assert f'"{key}": ' in PAGE
