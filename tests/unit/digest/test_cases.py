"""Every case of tests/cases/digest, in each dialect it names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from goldsmith.digest.digest import digest

FOLDER = Path(__file__).resolve().parents[2] / "cases" / "digest"


def cases() -> Iterator[Any]:
    for file in sorted(FOLDER.glob("*.yaml")):
        for case in yaml.safe_load(file.read_text("utf-8")):
            for dialect in case["dialects"]:
                yield pytest.param(case, dialect, id=f"{file.stem}: {case['says']} ({dialect})")


def column_text(edge: Any) -> str:
    target = edge.column if edge.table is None else f"{edge.table}.{edge.column}"
    sources = ",".join(sorted(f"{root.table}.{root.column}" for root in edge.sources))
    return f"{target}<-{sources}"


def expected_text(column: str) -> str:
    target, _, sources = column.partition("<-")
    return f"{target}<-{','.join(sorted(sources.split(',')))}"


@pytest.mark.parametrize(("case", "dialect"), list(cases()))
def test_digest_answers_as_the_case_says(case: dict[str, Any], dialect: str) -> None:
    options = {key: case.get(key) for key in ("schema", "default_db", "default_schema")}
    found = digest(case["sql"], dialect=dialect, **options)
    assert sorted(found.upstream) == sorted(case["upstream"])
    assert sorted(found.downstream) == sorted(case["downstream"])
    if "columns" in case:
        got = sorted(column_text(edge) for edge in found.columns)
        assert got == sorted(expected_text(column) for column in case["columns"])


def test_there_are_at_least_four_hundred_cases() -> None:
    assert len(list(cases())) >= 400
