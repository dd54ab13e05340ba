"""Transforms: a transform is one file of `engine/shape/transforms`, named as its stage option.

The registry imports a declaration by its name. So a new transform needs no list here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goldsmith.registry import Registry

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def _no_columns(value: Any) -> tuple[str, ...]:
    del value
    return ()


def _keeps_no_time(value: Any, column: str) -> bool:
    del value, column
    return False


@dataclass(frozen=True, kw_only=True)
class StageTransform:
    """A key of `stages.options` that changes the stage's rows after its SQL."""

    #: Transforms run in the order of their positions.
    position: int
    #: For the reference page: the value's type, what it does, an example.
    type: str
    doc: str
    example: str
    #: Problems of a value, each with a hint; sentences continue "options.<name> of stage x …".
    problems: Callable[[Any], Iterator[tuple[str, str]]]
    #: The changed rows. Takes the rows and the option's value.
    apply: Callable[[DataFrame, Any], DataFrame]
    #: Columns that exist after the transform and maybe not before it.
    adds: Callable[[Any], tuple[str, ...]] = _no_columns
    #: Columns whose values or names change.
    changes: Callable[[Any], tuple[str, ...]] = _no_columns
    #: Whether a changed column still has the same time.
    keeps_time: Callable[[Any, str], bool] = _keeps_no_time


TRANSFORMS: Registry[StageTransform] = Registry(
    "transform", package="goldsmith.engine.shape.transforms", kind=StageTransform
)


def transforms_of(options: Mapping[str, Any]) -> Iterator[tuple[StageTransform, Any]]:
    """The transforms that a stage's options name, with their values, in order."""
    named = [(TRANSFORMS.get(name), name) for name in options if name in TRANSFORMS]
    for transform, name in sorted(named, key=lambda item: (item[0].position, item[1])):
        yield transform, options[name]


def by_column(form: str) -> Callable[[Any], Iterator[tuple[str, str]]]:
    """The check of a value that must be an object by column, like `{old: new}`."""

    def problems(value: Any) -> Iterator[tuple[str, str]]:
        if not isinstance(value, dict):
            yield f"is '{str(value)[:100]}'.", f"It is an object by column: {{{form}}}."

    return problems
