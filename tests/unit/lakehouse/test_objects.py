"""Patterns of loads match as object stores do, and name nothing outside the tenant's prefix."""

from __future__ import annotations

import posixpath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldsmith.lakehouse.objects import BadLoad, checked_path, compiled


@pytest.mark.parametrize(
    ("pattern", "path", "is_match"),
    [
        ("a/**/*.parquet", "a/b.parquet", True),
        ("a/**/*.parquet", "a/b/c/d.parquet", True),
        ("a/**/*.parquet", "ab/c.parquet", False),
        ("a/*.parquet", "a/b/c.parquet", False),
        ("a/?.jsonl", "a/b.jsonl", True),
        ("a/?.jsonl", "a/bc.jsonl", False),
        ("a/?.jsonl", "a//.jsonl", False),
        ("a/**", "a/b/c.jsonl", True),
        ("**", "x", True),
        ("a.b/c+d$/*", "a.b/c+d$/e", True),
        ("a.b/*", "axb/c", False),
        ("a**b", "a/b", False),
        ("a**b", "axxb", True),
        ("*", "line\nend", True),
    ],
)
def test_a_pattern_matches_within_parts_and_spans_them_with_two_stars(
    pattern: str, path: str, is_match: bool
) -> None:
    assert bool(compiled(pattern).fullmatch(path)) is is_match


@given(st.text(alphabet="a./\\:*?s3\x00\u202e%~ é-", max_size=30), st.booleans())
def test_what_is_accepted_stays_below_the_prefix(text: str, is_pattern: bool) -> None:
    try:
        accepted = checked_path(text, is_pattern=is_pattern)
    except BadLoad:
        return
    assert accepted == text
    assert posixpath.normpath(posixpath.join("/base/tenant", text)).startswith("/base/tenant/")
