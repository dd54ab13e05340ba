"""Every error: a docstring, a sentence, a hint, and the same after a trip between processes."""

from __future__ import annotations

import ast
import pickle
import typing
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from types import NoneType, UnionType
from typing import Any

import pytest

import goldsmith
from goldsmith.errors import GoldsmithError

SOURCE = Path(goldsmith.__file__).parent


def every_error() -> list[tuple[str, str]]:
    """Module and name of each, found in the text: importing all there is would start half of it."""
    classes = [
        (".".join(("goldsmith", *file.relative_to(SOURCE).with_suffix("").parts)), node)
        for file in sorted(SOURCE.rglob("*.py"))
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.ClassDef)
    ]
    names, found = {"GoldsmithError"}, dict[tuple[str, str], None]()
    while True:
        before = len(found)
        for module, node in classes:
            if names.intersection(ast.unparse(base).split(".")[-1] for base in node.bases):
                found[module, node.name] = None
                names.add(node.name)
        if len(found) == before:
            return list(found)


ERRORS = every_error()


@pytest.fixture(params=ERRORS, ids=lambda found: found[1])
def error(request: pytest.FixtureRequest) -> type[GoldsmithError]:
    module, name = request.param
    found: type[GoldsmithError] = getattr(import_module(module), name)
    assert issubclass(found, GoldsmithError)
    return found


def made(error: type[GoldsmithError]) -> GoldsmithError:
    """An error with something plausible in every field."""
    hints = typing.get_type_hints(error)
    return error(**{field.name: _value(hints[field.name]) for field in fields(error)})


def _value(hint: Any) -> Any:
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, UnionType):
        return _value(next(kind for kind in inner if kind is not NoneType))
    if origin is typing.Literal:
        return inner[0]
    if origin is tuple:
        return (_value(inner[0]),) if inner[-1] is Ellipsis else tuple(map(_value, inner))
    if origin in (list, set, frozenset):
        return origin([_value(inner[0])])
    if origin is not None and issubclass(origin, Mapping):
        return {_value(inner[0]): _value(inner[1])}
    if origin is not None:
        return [_value(inner[0])] if inner else origin()
    if hint is Any or hint is object:
        return "anything"
    if hint is datetime:
        return datetime(2026, 1, 31, tzinfo=UTC)
    if hint is Path:
        return Path("somewhere")
    if isinstance(hint, type) and is_dataclass(hint):
        inside = typing.get_type_hints(hint)
        return hint(**{field.name: _value(inside[field.name]) for field in fields(hint)})
    if isinstance(hint, type) and hasattr(hint, "__members__"):
        return next(iter(hint))  # type: ignore[call-overload]
    return {str: "a word", int: 7, float: 0.5, bool: True, dict: {}, bytes: b"x"}[hint]


def test_an_error_says_what_it_means_in_a_docstring(error: type[GoldsmithError]) -> None:
    doc = error.__doc__ or ""
    # A dataclass without a docstring gets its signature for one.
    assert doc
    assert not doc.startswith(f"{error.__name__}(")


def test_an_error_has_a_sentence_a_hint_and_facts(error: type[GoldsmithError]) -> None:
    instance = made(error)
    assert str(instance).strip()
    assert isinstance(instance.hint, str)
    assert instance.code
    assert isinstance(instance.facts, Mapping)
    assert error.exit_code in (1, 2)


def test_an_error_is_the_same_after_a_trip_between_processes(error: type[GoldsmithError]) -> None:
    instance = made(error)
    other = pickle.loads(pickle.dumps(instance))
    assert type(other) is error
    assert (str(other), other.hint) == (str(instance), instance.hint)
    assert other.facts == instance.facts


def test_no_two_errors_have_one_code() -> None:
    names = [name for _module, name in ERRORS]
    assert sorted(name for name in set(names) if names.count(name) > 1) == []
