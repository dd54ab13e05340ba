"""What a scan of a csv file proves, against a slow parser of RFC 4180."""

from __future__ import annotations

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldsmith.engine.read import quoting
from goldsmith.engine.read.quoting import Layout, Quoting, Seen, pieces

RFC = Quoting(sep=",", quote='"', comment=None, encoding="utf-8", spaces=(False, False))
_VALUE = re.compile(r'"((?:[^"]|"")*)"|[^",\r\n]*')
_END = re.compile(r"\r\n|\n|\r")


def expected(text: str) -> Layout:
    """By one value after the other."""
    at, ends, quoted = 0, set[str](), ""
    while at < len(text):
        value = _VALUE.match(text, at)
        assert value is not None
        quoted += value[1] or ""
        at = value.end()
        end = _END.match(text, at)
        if end is not None:
            ends.add(end[0])
            at = end.end()
        elif at < len(text):
            if text[at] != ",":
                return Layout.MIXED
            at += 1
    if not _END.search(quoted):
        return Layout.LINES
    first = _END.search(text)
    assert first is not None
    if first[0] == "\n":
        return Layout.RECORDS if ends <= {"\n"} else Layout.MIXED
    if first[0] == "\r\n" and "\r" not in quoted:
        return Layout.RECORDS if ends <= {"\r\n"} else Layout.MIXED
    return Layout.MIXED


@given(
    st.lists(st.sampled_from(["a", ",", '"', '""', "\n", "\r\n", "\r", ',"', '",']), max_size=14),
    st.sampled_from([1, 2, 3, 100]),
)
def test_a_scan_proves_what_a_parser_finds(parts: list[str], chunk: int) -> None:
    text = "".join(parts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quoting, "_CHUNK", chunk)
        seen = Seen(RFC)
        for piece in pieces(io.BytesIO(text.encode()), "utf-8"):
            if not seen.is_odd:
                seen.add(piece)
    assert seen.layout is expected(text), seen.why
