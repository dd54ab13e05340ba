"""A setting of a check: its name, the values it takes, whether it is required."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from goldsmith.checks.field import Field, OfKind

#: A share of a whole, from 0 to 1.
Share = Annotated[float, 0, 1]
#: A regular expression, in Java's dialect.
Regex = Annotated[str, "regex"]
#: What a column may be compared with: {sql: …} is an expression of Spark SQL.
Bound = float | str | date | Mapping[Literal["sql"], str]

_DESCRIPTIONS = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    date: "a date",
    Field: "a column's name",
    NoneType: "nothing",
    object: "a value",
}


@dataclass(frozen=True, kw_only=True)
class CheckSetting:
    """A setting, described by its parameter in the signature of the check's function."""

    name: str
    #: The parameter's annotation.
    type: Any
    default: Any
    is_required: bool

    @classmethod
    def of(cls, parameter: inspect.Parameter) -> CheckSetting:
        is_required = parameter.default is parameter.empty
        return cls(
            name=parameter.name,
            type=parameter.annotation,
            default=None if is_required else parameter.default,
            is_required=is_required,
        )

    def takes(self, value: Any) -> bool:
        """The value is of the right type; a text with a {{ parameter }} is always accepted."""
        return _fits(value, self.type) or (isinstance(value, str) and "{{" in value)

    @cached_property
    def kind(self) -> str:
        """The values it takes, as text."""
        return _description(self.type)

    @property
    def usage(self) -> str:
        return f"{self.name} ({self.kind}{'' if self.is_required else ', optional'})"

    @cached_property
    def needs(self) -> OfKind | None:
        """The kind of column the setting must name; None if it names no column."""
        return _needs(self.type)

    @cached_property
    def is_regex(self) -> bool:
        return self.type == Regex or Regex in get_args(self.type)

    def columns(self, value: Any) -> Iterator[str]:
        """The columns that a value of the setting names."""
        if self.needs is None:
            return
        for name in [value] if isinstance(value, str) else value or ():
            if isinstance(name, str):
                yield name


def _needs(wanted: Any) -> OfKind | None:
    if wanted is Field:
        return OfKind("any")
    parts = get_args(wanted)
    if get_origin(wanted) is Annotated:
        return parts[1] if isinstance(parts[1], OfKind) else None
    return next((found for part in parts if (found := _needs(part)) is not None), None)


def _fits(value: Any, wanted: Any) -> bool:
    if wanted is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if wanted is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if wanted is Field:
        return isinstance(value, str) and value != ""
    if isinstance(wanted, type):
        return isinstance(value, wanted)
    origin, parts = get_origin(wanted), get_args(wanted)
    if origin in (Union, UnionType):
        return any(_fits(value, part) for part in parts)
    if origin is Annotated and len(parts) == 2:
        return _fits(value, parts[0])
    if origin is Annotated:
        return _fits(value, parts[0]) and parts[1] <= value <= parts[2]
    if origin is Literal:
        return value in parts
    if origin is Sequence:
        return isinstance(value, list | tuple) and all(_fits(item, parts[0]) for item in value)
    if origin is Mapping:
        return isinstance(value, dict) and all(
            _fits(key, parts[0]) and _fits(item, parts[1]) for key, item in value.items()
        )
    raise TypeError(f"a setting's type is {wanted}, which nobody reads")


def _description(wanted: Any) -> str:
    if wanted in _DESCRIPTIONS:
        return _DESCRIPTIONS[wanted]
    origin, parts = get_origin(wanted), get_args(wanted)
    if origin in (Union, UnionType):
        return " or ".join(_description(part) for part in parts if part is not NoneType)
    if origin is Annotated and isinstance(parts[1], OfKind):
        return f"{parts[1].description}, by name"
    if origin is Annotated and parts[1] == "regex":
        return "a regular expression"
    if origin is Annotated:
        return f"{_description(parts[0])} from {parts[1]} to {parts[2]}"
    if origin is Literal:
        return f"one of {', '.join(map(str, parts))}"
    if origin is Sequence:
        return "a list" if parts[0] is object else f"a list ({_description(parts[0])} each)"
    if origin is Mapping and get_origin(parts[0]) is Literal:
        return " or ".join(f"{{{name}: …}}" for name in get_args(parts[0]))
    return "an object"
