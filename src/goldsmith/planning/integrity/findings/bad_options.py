"""A stage's options hold a key nobody reads, or a value that means nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from goldsmith.catalog.pipelines import Stage
from goldsmith.catalog.snapshot import Snapshot
from goldsmith.planning.integrity.finding import Gravity, Wrong, catalog_rule
from goldsmith.planning.integrity.known import STAGE_OPTIONS, did_you_mean
from goldsmith.planning.words import stage_id

_WORDS: Mapping[str, tuple[str, ...]] = {
    "overwrite": ("partitions",),
    "partial": ("ok",),
    "read": ("new", "all"),
}
_OBJECTS: Mapping[str, str] = {"rename": "old: new", "cast": "column: type"}


@catalog_rule(Gravity.ERROR, reads=(Stage,))
def bad_options(rows: Snapshot) -> Iterator[Wrong]:
    for stage in rows.rows(Stage):
        if stage.options:
            yield from _of_stage(stage)


def _of_stage(stage: Stage) -> Iterator[Wrong]:
    whose = stage_id(stage)
    for name, value in stage.options.items():
        if name not in STAGE_OPTIONS:
            yield Wrong(
                stage,
                f"The options of stage {whose} hold '{name}', which nothing reads.",
                f"{did_you_mean(name, STAGE_OPTIONS)}Known: {', '.join(STAGE_OPTIONS)}.",
            )
        elif name in _WORDS and value not in _WORDS[name]:
            yield Wrong(
                stage,
                f"options.{name} of stage {whose} is '{str(value)[:100]}'.",
                f"It may be {' or '.join(_WORDS[name])}.",
            )
        elif name in _OBJECTS and not isinstance(value, dict):
            yield Wrong(
                stage,
                f"options.{name} of stage {whose} is '{str(value)[:100]}'.",
                f"It is an object by column: {{{_OBJECTS[name]}}}.",
            )
