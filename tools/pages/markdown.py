"""Markdown as all generated pages write it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

NOTE = "<!-- Made by tools/docs.py from the definitions. Change those, then run `make docs`. -->"


def filled(prose: str, parts: Mapping[str, str]) -> str:
    """A page: the prose of a file beside this one, with every `<!-- mark -->` filled in."""
    text = Path(__file__).with_name(prose).read_text(encoding="utf-8")
    for mark, part in {"note": NOTE, **parts}.items():
        if f"<!-- {mark} -->" not in text:
            raise LookupError(f"tools/pages/{prose} has no mark '{mark}'")
        text = text.replace(f"<!-- {mark} -->", part)
    return text


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(_cell(text) for text in line)} |" for line in lines)


def _cell(text: str) -> str:
    """A text that stays in its cell."""
    return " ".join(text.split()).replace("|", "\\|")


def code(text: object) -> str:
    return f"`{text}`"


def sentence(docstring: str | None) -> str:
    """A docstring as one line."""
    return " ".join((docstring or "").split())
