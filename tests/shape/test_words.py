"""Names say what a thing is: no identifier that needs this project's history, no class twice."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import goldsmith

SOURCE = Path(goldsmith.__file__).parent
TREES = {
    file.relative_to(SOURCE): ast.parse(file.read_text("utf-8"), str(file))
    for file in sorted(SOURCE.rglob("*.py"))
}

#: Names that say nothing about what they hold.
VAGUE = frozenset(
    (
        *("said", "told", "one", "place", "near", "words", "asked"),
        # The words before the glossary: quarantined, staged, requeue, worker resources …
        *("aside", "mend", "mended", "mending", "parted", "parting", "standing", "strays"),
        *("holdings", "neighbourhood", "surroundings", "workshop"),
    )
)
#: What a message for people says otherwise: quarantined, left out, location.
OLD_PHRASES = re.compile(
    r"\b(kept|put|set|lies|lie) aside\b|\bmend(s|ed|ing)?\b|\bneighbourhood\b|\bstrays?\b",
    re.IGNORECASE,
)
#: Fields that are stored columns (`Verdict`) or facts of errors, which users and programs read.
#: SQLAlchemy's `.one()` is called here and defined elsewhere, so it needs no entry.
ALLOWED_FIELDS = frozenset(
    (
        ("Verdict", "place"),
        ("BadSchema", "place"),
        ("DuplicateColumns", "place"),
    )
)


def test_no_name_is_vague() -> None:
    found = [
        f"{file}:{line}: {kind} `{name}`"
        for file, tree in TREES.items()
        for line, kind, name in sorted(set(defined_names(tree)))
        if name.lower().strip("_") in VAGUE
    ]
    assert not found, "\n".join(["Name these for what they hold:", *found])


def test_no_text_uses_an_old_phrase() -> None:
    found = [
        f"{file}:{node.lineno}: {match.group()}"
        for file, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for match in OLD_PHRASES.finditer(node.value)
    ]
    assert not found, "\n".join(["Use the word of the glossary:", *found])


def test_no_two_classes_share_a_name() -> None:
    classes: dict[str, list[str]] = defaultdict(list)
    for file, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                classes[node.name].append(f"{file}:{node.lineno}")
    found = [f"{name}: {', '.join(at)}" for name, at in sorted(classes.items()) if len(at) > 1]
    assert not found, "\n".join(["Give each of these classes a name of its own:", *found])


def test_no_module_has_a_vague_name() -> None:
    assert [str(file) for file in TREES if VAGUE.intersection(file.with_suffix("").parts)] == []


def test_every_allowed_field_exists() -> None:
    fields = {
        (node.name, item.target.id)
        for tree in TREES.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for item in node.body
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
    }
    assert sorted(ALLOWED_FIELDS - fields) == []


def test_every_kind_of_definition_is_seen() -> None:
    sample = """
import os as said
def told(one, *place, near=1, **words): pass
class asked:
    said: int
for told in (): pass
with open("x") as one: pass
try: pass
except OSError as place: pass
near = [words for words in ()]
match near:
    case {"a": asked, **said}: pass
    case [*told]: pass
self.one = 1
f(place=2)
lambda near: near
if (words := 1): pass
class BadSchema:
    place: str
BadSchema(place="x")
query.one()
error.place
"""
    found = {(line, name) for line, _kind, name in defined_names(ast.parse(sample))}
    assert {(line, name) for line, name in found if name in VAGUE} == {
        *((2, "said"), (3, "told"), (3, "one"), (3, "place"), (3, "near"), (3, "words")),
        *((4, "asked"), (5, "said"), (6, "told"), (7, "one"), (9, "place"), (10, "near")),
        *((10, "words"), (12, "asked"), (12, "said"), (13, "told"), (14, "one"), (15, "place")),
        *((16, "near"), (17, "words")),
    }


def defined_names(tree: ast.AST) -> Iterator[tuple[int, str, str]]:
    """Every name that is given to something here: line, kind of thing, name."""
    allowed = {
        item
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for item in allowed_nodes(node)
    }
    for node in ast.walk(tree):
        if node not in allowed:
            yield from names_of(node)


def allowed_nodes(class_: ast.ClassDef) -> Iterator[ast.AST]:
    """The field definitions of a class that the list above allows."""
    for item in class_.body:
        if (
            isinstance(item, ast.AnnAssign)
            and isinstance(item.target, ast.Name)
            and (class_.name, item.target.id) in ALLOWED_FIELDS
        ):
            yield item.target


def names_of(node: ast.AST) -> Iterator[tuple[int, str, str]]:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            yield node.lineno, "function", name
        case ast.ClassDef(name=name):
            yield node.lineno, "class", name
        case ast.arg(arg=name):
            yield node.lineno, "parameter", name
        case ast.Name(id=name, ctx=ast.Store()):
            yield node.lineno, "variable", name
        case ast.Attribute(attr=name, ctx=ast.Store()):
            yield node.lineno, "field", name
        case ast.alias(asname=str(name)):
            yield node.lineno, "import", name
        case ast.ExceptHandler(name=str(name)):
            yield node.lineno, "variable", name
        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield node.lineno, "variable", name
        case ast.MatchMapping(rest=str(name)):
            yield node.lineno, "variable", name
        case ast.Call(func=function, keywords=keywords):
            called = function.attr if isinstance(function, ast.Attribute) else ""
            called = function.id if isinstance(function, ast.Name) else called
            for keyword in keywords:
                if keyword.arg is not None and (called, keyword.arg) not in ALLOWED_FIELDS:
                    yield keyword.value.lineno, "keyword", keyword.arg
