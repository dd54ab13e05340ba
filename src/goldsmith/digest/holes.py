"""Template text in SQL (dbt, Jinja, shell and Python placeholders): made parseable, names kept.

`{{ ref('x') }}` becomes x, `{{ source('a', 'b') }}` becomes a.b. Other expressions become an
identifier that stands for the text. Statements (`{% … %}`) vanish; all branches stay.
"""

from __future__ import annotations

import re

_COMMENT = re.compile(r"\{#.*?(?:#\}|\Z)", re.DOTALL)
_STATEMENT = re.compile(r"\{%(?:(?!\{%).)*?%\}", re.DOTALL)
_EXPRESSION = re.compile(r"\{\{-?\s*((?:(?!\{\{).)*?)\s*-?\}\}", re.DOTALL)
#: A template that does not close ends with its line or its statement: what follows is read.
_UNCLOSED = re.compile(r"\{[{%][^\n;]*")
_REF = re.compile(r"""^ref\(\s*['"]([^'"]+)['"]\s*(?:,\s*['"]([^'"]+)['"])?.*\)$""", re.DOTALL)
_SOURCE = re.compile(r"""^source\(\s*['"]([^'"]+)['"]\s*,\s*['"]([^'"]+)['"]\s*\)$""", re.DOTALL)
_OTHER = re.compile(
    r"\$\{([^}]*)\}|%\((\w+)\)s|(?<![\w:])\$\((\w+)\)|<([A-Z][A-Z0-9_]+)>(?=[\s.,;)]|$)"
)


def has_holes(text: str) -> bool:
    return (
        "{{" in text
        or "{%" in text
        or "{#" in text
        or "${" in text
        or "%(" in text
        or "$(" in text
        or "<" in text
    )


class Holes:
    """The texts that identifiers stand for."""

    __slots__ = ("_names", "error", "line")

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self.error: str | None = None
        self.line = 1

    def fill(self, text: str) -> str:
        """The text without template text; the number of lines stays."""
        text = _COMMENT.sub(_blank, text)
        text = _STATEMENT.sub(_blank, text)
        text = _EXPRESSION.sub(self._expression, text)
        unclosed = _UNCLOSED.search(text)
        if unclosed is not None:
            self.line = text.count("\n", 0, unclosed.start()) + 1
            self.error = f"a template that begins with {unclosed.group()[:2]} does not close"
            text = _UNCLOSED.sub(_hidden, text)
            self._names["hole_unclosed"] = unclosed.group().strip()
        return _OTHER.sub(self._other, text)

    def _expression(self, match: re.Match[str]) -> str:
        inner = match.group(1)
        ref = _REF.match(inner)
        if ref is not None:
            return (ref.group(2) or ref.group(1)) + _lines(match.group())
        source = _SOURCE.match(inner)
        if source is not None:
            return f"{source.group(1)}.{source.group(2)}" + _lines(match.group())
        if re.match(r"^(config|set|log|do)\b", inner):
            return _blank(match)
        return self._mark(re.sub(r"\s+", " ", inner), match.group())

    def _other(self, match: re.Match[str]) -> str:
        return self._mark(
            next(group for group in match.groups() if group is not None), match.group()
        )

    def _mark(self, name: str, written: str) -> str:
        mark = "hole_" + re.sub(r"\W+", "_", name).strip("_").lower()
        self._names[mark] = re.sub(r"\s+", " ", written)
        return mark + _lines(written)

    def restored(self, name: str) -> str:
        """A name with the template text back in it."""
        if "hole_" not in name:
            return name
        for mark in sorted(self._names, key=len, reverse=True):
            name = name.replace(mark, self._names[mark])
        return name


def _blank(match: re.Match[str]) -> str:
    return " " + _lines(match.group())


def _lines(text: str) -> str:
    return "\n" * text.count("\n")


def _hidden(match: re.Match[str]) -> str:
    """A name for an expression that does not close; a statement that does not close vanishes."""
    return "hole_unclosed" if match.group().startswith("{{") else " "
