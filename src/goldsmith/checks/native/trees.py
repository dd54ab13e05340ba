"""What Spark would compute, as trees that the kernel computes alike.

A tree is a tuple: the name of one of the kernel's functions, and what it is applied to. It comes
from Spark's own optimised plan, so types, casts and constants are as Spark has settled them. An
expression that the kernel has no exact counterpart of has no tree, and stays with Spark.
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

from goldsmith.checks.native.patterns import is_common

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

Tree = tuple[Any, ...]

#: Values of these have one order and one equality, in Spark and in Arrow.
_WHOLE = frozenset(("byte", "short", "integer", "long"))
_FLOATING = frozenset(("float", "double"))
_ORDERED = _WHOLE | {"boolean", "string", "date", "timestamp", "timestamp_ntz"}
#: Of these Python has the same order too.
_COMPARABLE = _WHOLE | _FLOATING | {"date", "string"}
_DECIMAL = re.compile(r"decimal\((\d+),(-?\d+)\)")
_UTC = frozenset(("UTC", "Etc/UTC", "GMT", "Z", "Zulu", "Universal", "Etc/GMT", "Etc/Universal"))
#: Java prints older days by another calendar.
_FIRST_YEAR = 1900
_TIME_SPAN = re.compile(r"interval (day|hour|minute|second)( to (hour|minute|second))?")
_COMPARED = {
    "EqualTo": "eq",
    "LessThan": "lt",
    "LessThanOrEqual": "le",
    "GreaterThan": "gt",
    "GreaterThanOrEqual": "ge",
}
#: Spark turns longer lists into sets, which its plan does not show.
_LISTS = ("spark.sql.optimizer.inSetConversionThreshold", "100000")
#: Two threads that change a session's setting would not set it back: one at a time.
_TURNS: WeakKeyDictionary[SparkSession, threading.Lock] = WeakKeyDictionary()


class _NoTree(Exception):
    """Only Spark computes that."""


class _Node:
    """One expression of Spark's plan."""

    def __init__(self, said: Mapping[str, Any], children: Sequence[_Node]) -> None:
        self.name = str(said["class"]).rpartition(".")[2]
        self.said = said
        self.children = children

    @classmethod
    def of(cls, listed: Sequence[Mapping[str, Any]]) -> _Node:
        """The expression that Spark lists from its root on, each node before what is under it."""
        rest = iter(listed)

        def read() -> _Node:
            said = next(rest)
            return cls(said, [read() for _ in range(said["num-children"])])

        return read()


def aggregates(rows: DataFrame, columns: Sequence[Column]) -> dict[str, Tree]:
    """The trees of aggregates over the rows, by their names; those that have one.

    Each is the aggregate's name, the tree it is taken of, and the type of what comes out; or
    how another one compares with a value.
    """
    return _trees(rows.agg(*columns), "Aggregate", "aggregateExpressions", _aggregate)


def values(rows: DataFrame, columns: Sequence[Column]) -> dict[str, Tree]:
    """The trees of columns of the rows, by their names; those that have one."""
    return _trees(rows.select(*columns), "Project", "projectList", _value)


def _trees(
    asked: DataFrame, top: str, listed: str, tree_of: Callable[[_Node], Tree]
) -> dict[str, Tree]:
    plan = json.loads(_optimized(asked))[0]
    found: dict[str, Tree] = {}
    if not plan["class"].endswith(f".{top}"):
        return found
    has_moments = _shows_utc(asked.sparkSession)
    for nodes in plan[listed]:
        node = _Node.of(nodes)
        if node.name != "Alias":
            continue
        try:
            tree = tree_of(node.children[0])
        except (_NoTree, ValueError, ArithmeticError):
            continue
        if has_moments or not _says_a_moment(tree):
            found[node.said["name"]] = tree
    return found


def _shows_utc(spark: SparkSession) -> bool:
    """Moments in a plan are shown in the time zone of the JVM, which need not be the session's."""
    jvm: Any = spark._jvm
    return str(jvm.java.util.TimeZone.getDefault().getID()) in _UTC


def _says_a_moment(tree: Any) -> bool:
    if isinstance(tree, tuple):
        return any(map(_says_a_moment, tree))
    return isinstance(tree, datetime)


def _optimized(asked: DataFrame) -> str:
    with _lists_shown(asked):
        plan: Any = asked._jdf.queryExecution().optimizedPlan()
        return str(plan.toJSON())


@contextmanager
def _lists_shown(asked: DataFrame) -> Iterator[None]:
    conf = asked.sparkSession.conf
    with _TURNS.setdefault(asked.sparkSession, threading.Lock()):
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
        to, zone = node.said["dataType"], node.said["timeZoneId"]
        if name == "constant" or (kind, to, zone) != ("timestamp", "timestamp_ntz", "UTC"):
            raise _NoTree
        return (name, tree, to)
    if node.name in _COMPARED:
        measured, bound = _aggregate(node.children[0]), _literal(node.children[1])
        if measured[0] == "constant" or measured[2] != bound[1] or bound[1] not in _COMPARABLE:
            raise _NoTree
        return ("compared", (_COMPARED[node.name], measured, bound[2]), "boolean")
    if node.name != "AggregateExpression" or node.said.get("isDistinct"):
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
    """The condition under which a row is counted."""
    if node.name == "CaseWhen" and len(node.children) == 2:  # and NULL otherwise
        condition, counted = node.children
        if counted.name == "Literal" and counted.said["value"] is not None:
            return _value(condition)
    return ("not", ("is_null", _value(node)))


def _value(node: _Node) -> Tree:
    make = _MADE.get(node.name)
    if make is None:
        raise _NoTree
    return make(node)


def _column(node: _Node) -> Tree:
    kind = node.said["dataType"]
    if not isinstance(kind, str) or not (
        kind in _ORDERED | _FLOATING or kind == "binary" or _DECIMAL.fullmatch(kind)
    ):
        raise _NoTree
    return ("column", kind, node.said["name"])


def _literal(node: _Node) -> Tree:
    kind, text = node.said["dataType"], node.said["value"]
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
        one, other = map(_value, node.children)
        if _type(one) != _type(other) or _type(one) == "binary":
            raise _NoTree
        return (name, other, one) if swap else (name, one, other)

    return make


def _plain(name: str) -> Callable[[_Node], Tree]:
    """A function of conditions, or of whether there is a value."""
    return lambda node: (name, *map(_value, node.children))


def _one_of(node: _Node) -> Tree:
    value, *listed = map(_value, node.children)
    if _type(value) not in _ORDERED or any(one[0] != "literal" for one in listed):
        raise _NoTree
    return ("one_of", value, tuple(one[2] for one in listed))


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
    """One condition, what there is where it is true, and what otherwise: NULL, if nothing."""
    if len(node.children) not in (2, 3):
        raise _NoTree
    condition, *both = map(_value, node.children)
    if len({_type(one) for one in both}) != 1:
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
    kind = interval.said.get("dataType")
    if _type(tree) not in ("timestamp", "timestamp_ntz") or not isinstance(kind, str):
        raise _NoTree
    if _TIME_SPAN.fullmatch(kind) is None:
        raise _NoTree
    # A day is not always 24 hours, in most zones.
    if node.said.get("timeZoneId") != "UTC" or interval.name != "Literal":
        raise _NoTree
    return ("later", tree, timedelta(microseconds=int(interval.said["value"])))


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
    """The type of a tree's values, in Spark's words."""
    match tree[0]:
        case "column" | "literal":
            return str(tree[1])
        case "later" | "first_of":
            return _type(tree[1])
        case "when":
            return _type(tree[2])
    return _TYPES.get(tree[0], "boolean")
