"""Translate Spark expressions into trees that `arrow_eval` computes with the same result.

A tree is a tuple: the name of a function of `arrow_eval`, and its arguments. It is made from
Spark's optimised plan, so types, casts and constants are as Spark resolved them. An expression
without an exact counterpart in `arrow_eval` has no tree: Spark computes it.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from goldsmith.checks.portable_patterns import is_common

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

Tree = tuple[Any, ...]

#: Types whose values compare the same in Spark and in Arrow.
_WHOLE = frozenset(("byte", "short", "integer", "long"))
_FLOATING = frozenset(("float", "double"))
_ORDERED = _WHOLE | {"boolean", "string", "date", "timestamp", "timestamp_ntz"}
#: Types whose values compare the same in Python, too.
_COMPARABLE = _WHOLE | _FLOATING | {"date", "string"}
_DECIMAL = re.compile(r"decimal\((\d+),(-?\d+)\)")
_UTC = frozenset(("UTC", "Etc/UTC", "GMT", "Z", "Zulu", "Universal", "Etc/GMT", "Etc/Universal"))
#: Java prints earlier dates in another calendar.
_FIRST_YEAR = 1900
_TIME_SPAN = re.compile(r"interval (day|hour|minute|second)( to (hour|minute|second))?")
_COMPARED = {
    "EqualTo": "eq",
    "LessThan": "lt",
    "LessThanOrEqual": "le",
    "GreaterThan": "gt",
    "GreaterThanOrEqual": "ge",
}
#: Spark turns longer IN lists into sets, whose values the plan does not show.
_LISTS = ("spark.sql.optimizer.inSetConversionThreshold", "100000")
#: A lock per session: two threads that change its setting at once would not restore it.
_TURNS: WeakKeyDictionary[SparkSession, threading.Lock] = WeakKeyDictionary()


class _NoTree(Exception):
    """The expression has no tree: only Spark can compute it."""


class _Node:
    """An expression of Spark's plan."""

    def __init__(self, attributes: Mapping[str, Any], children: Sequence[_Node]) -> None:
        self.name = str(attributes["class"]).rpartition(".")[2]
        self.attributes = attributes
        self.children = children

    @classmethod
    def of(cls, listed: Sequence[Mapping[str, Any]]) -> _Node:
        """Parse an expression that Spark lists from its root, each node before its children."""
        rest = iter(listed)

        def read() -> _Node:
            attributes = next(rest)
            return cls(attributes, [read() for _ in range(attributes["num-children"])])

        return read()


def aggregates(rows: DataFrame, columns: Sequence[Column]) -> dict[str, Tree]:
    """The trees of aggregates over the rows, by name; an aggregate without a tree is left out.

    A tree is the aggregate's name, the tree of its argument and the type of its result; or a
    constant; or a comparison of another aggregate with a value.
    """
    return _trees(rows.agg(*columns), "Aggregate", "aggregateExpressions", _aggregate)


def values(rows: DataFrame, columns: Sequence[Column]) -> dict[str, Tree]:
    """The trees of columns of the rows, by name; a column without a tree is left out."""
    return _trees(rows.select(*columns), "Project", "projectList", _value)


def _trees(
    frame: DataFrame, top: str, listed: str, tree_of: Callable[[_Node], Tree]
) -> dict[str, Tree]:
    plan = json.loads(_optimized(frame))[0]
    found: dict[str, Tree] = {}
    if not plan["class"].endswith(f".{top}"):
        return found
    has_moments = _shows_utc(frame.sparkSession)
    for nodes in plan[listed]:
        node = _Node.of(nodes)
        if node.name != "Alias":
            continue
        try:
            tree = tree_of(node.children[0])
        except (_NoTree, ValueError, ArithmeticError):
            continue
        if has_moments or not _says_a_moment(tree):
            found[node.attributes["name"]] = tree
    return found


def _shows_utc(spark: SparkSession) -> bool:
    """A plan shows timestamps in UTC: it uses the time zone of the JVM, not of the session."""
    jvm: Any = spark._jvm
    return str(jvm.java.util.TimeZone.getDefault().getID()) in _UTC


def _says_a_moment(tree: Any) -> bool:
    if isinstance(tree, tuple):
        return any(map(_says_a_moment, tree))
    return isinstance(tree, datetime)


def _optimized(frame: DataFrame) -> str:
    with _lists_shown(frame):
        plan: Any = frame._jdf.queryExecution().optimizedPlan()
        return str(plan.toJSON())


@contextmanager
def _lists_shown(frame: DataFrame) -> Iterator[None]:
    conf = frame.sparkSession.conf
    with _TURNS.setdefault(frame.sparkSession, threading.Lock()):
        before = conf.get(_LISTS[0])
        conf.set(*_LISTS)
        try:
            yield
        finally:
            conf.set(_LISTS[0], str(before))


def _aggregate(node: _Node) -> Tree:
    if node.name == "Literal":
        return ("constant", *reversed(_literal(node)[1:]))
    if node.name == "Cast":
        name, tree, kind = _aggregate(node.children[0])
        to, zone = node.attributes["dataType"], node.attributes["timeZoneId"]
        if name == "constant" or (kind, to, zone) != ("timestamp", "timestamp_ntz", "UTC"):
            raise _NoTree
        return (name, tree, to)
    if node.name in _COMPARED:
        measured, bound = _aggregate(node.children[0]), _literal(node.children[1])
        if measured[0] == "constant" or measured[2] != bound[1] or bound[1] not in _COMPARABLE:
            raise _NoTree
        return ("compared", (_COMPARED[node.name], measured, bound[2]), "boolean")
    if node.name != "AggregateExpression" or node.attributes.get("isDistinct"):
        raise _NoTree
    if len(node.children) != 1:  # with a FILTER
        raise _NoTree
    function = node.children[0]
    if len(function.children) != 1:
        raise _NoTree
    over = function.children[0]
    match function.name:
        case "Count":
            return ("count", _counted(over), "long")
        case "Average":
            return ("mean", _value_of(over, _WHOLE | _FLOATING), "double")
        case "Max" | "Min":
            tree = _value_of(over, _ORDERED | _FLOATING)
            return (function.name.lower(), tree, _type(tree))
    raise _NoTree


def _value_of(node: _Node, kinds: frozenset[str]) -> Tree:
    tree = _value(node)
    if _type(tree) not in kinds:
        raise _NoTree
    return tree


def _counted(node: _Node) -> Tree:
    """The condition on which a row is counted."""
    if node.name == "CaseWhen" and len(node.children) == 2:  # and NULL otherwise
        condition, counted = node.children
        if counted.name == "Literal" and counted.attributes["value"] is not None:
            return _value(condition)
    return ("not", ("is_null", _value(node)))


def _value(node: _Node) -> Tree:
    make = _MADE.get(node.name)
    if make is None:
        raise _NoTree
    return make(node)


def _column(node: _Node) -> Tree:
    kind = node.attributes["dataType"]
    if not isinstance(kind, str) or not (
        kind in _ORDERED | _FLOATING or kind == "binary" or _DECIMAL.fullmatch(kind)
    ):
        raise _NoTree
    return ("column", kind, node.attributes["name"])


def _literal(node: _Node) -> Tree:
    kind, text = node.attributes["dataType"], node.attributes["value"]
    if not isinstance(kind, str) or text is None:
        raise _NoTree
    value: Any
    if kind in _WHOLE:
        value = int(text)
    elif kind in _FLOATING:
        value = float(text)
    elif kind == "boolean":
        value = text == "true"
    elif kind == "string":
        value = text
    elif kind == "date":
        value = _not_old(date.fromisoformat(text))
    elif kind == "timestamp":
        value = _not_old(datetime.fromisoformat(text)).replace(tzinfo=UTC)
    elif _DECIMAL.fullmatch(kind):
        value = Decimal(text)
    else:
        raise _NoTree
    return ("literal", kind, value)


def _not_old(value: Any) -> Any:
    if value.year < _FIRST_YEAR:
        raise _NoTree
    return value


def _both(name: str, *, swap: bool = False) -> Callable[[_Node], Tree]:
    """A comparison of two values of one type."""

    def make(node: _Node) -> Tree:
        left, right = map(_value, node.children)
        if _type(left) != _type(right) or _type(left) == "binary":
            raise _NoTree
        return (name, right, left) if swap else (name, left, right)

    return make


def _plain(name: str) -> Callable[[_Node], Tree]:
    """A function whose argument types need no test."""
    return lambda node: (name, *map(_value, node.children))


def _one_of(node: _Node) -> Tree:
    value, *listed = map(_value, node.children)
    if _type(value) not in _ORDERED or any(item[0] != "literal" for item in listed):
        raise _NoTree
    return ("one_of", value, tuple(item[2] for item in listed))


def _matches(node: _Node) -> Tree:
    value, pattern = map(_value, node.children)
    if _type(value) != "string" or pattern[0] != "literal" or not is_common(pattern[2]):
        raise _NoTree
    return ("matches", value, pattern[2])


def _with_text(name: str) -> Callable[[_Node], Tree]:
    def make(node: _Node) -> Tree:
        value, text = map(_value, node.children)
        if _type(value) != "string" or text[0] != "literal":
            raise _NoTree
        return (name, value, text[2])

    return make


def _when(node: _Node) -> Tree:
    """A CASE with one condition: its value, and that of ELSE if there is one."""
    if len(node.children) not in (2, 3):
        raise _NoTree
    condition, *both = map(_value, node.children)
    if len({_type(branch) for branch in both}) != 1:
        raise _NoTree
    return ("when", condition, *both)


def _length(node: _Node) -> Tree:
    (value,) = map(_value, node.children)
    if _type(value) != "string":
        raise _NoTree
    return ("length", value)


def _later(node: _Node) -> Tree:
    moment, interval = node.children
    tree = _value(moment)
    kind = interval.attributes.get("dataType")
    if _type(tree) not in ("timestamp", "timestamp_ntz") or not isinstance(kind, str):
        raise _NoTree
    if _TIME_SPAN.fullmatch(kind) is None:
        raise _NoTree
    # In most time zones a day is not always 24 hours.
    if node.attributes.get("timeZoneId") != "UTC" or interval.name != "Literal":
        raise _NoTree
    return ("later", tree, timedelta(microseconds=int(interval.attributes["value"])))


_MADE: Mapping[str, Callable[[_Node], Tree]] = {
    "AttributeReference": _column,
    "Literal": _literal,
    "And": _plain("and"),
    "Or": _plain("or"),
    "Not": _plain("not"),
    "IsNull": _plain("is_null"),
    "IsNotNull": lambda node: ("not", ("is_null", _value(node.children[0]))),
    "Coalesce": _plain("first_of"),
    "EqualTo": _both("equal"),
    "LessThan": _both("less"),
    "GreaterThan": _both("less", swap=True),
    "LessThanOrEqual": _both("at_most"),
    "GreaterThanOrEqual": _both("at_most", swap=True),
    "In": _one_of,
    "RLike": _matches,
    "StartsWith": _with_text("starts_with"),
    "EndsWith": _with_text("ends_with"),
    "Contains": _with_text("contains"),
    "CaseWhen": _when,
    "Length": _length,
    "TimestampAddInterval": _later,
}
_TYPES = {"length": "integer"}


def _type(tree: Tree) -> str:
    """The type of a tree's values, by Spark's name."""
    match tree[0]:
        case "column" | "literal":
            return str(tree[1])
        case "later" | "first_of":
            return _type(tree[1])
        case "when":
            return _type(tree[2])
    return _TYPES.get(tree[0], "boolean")
