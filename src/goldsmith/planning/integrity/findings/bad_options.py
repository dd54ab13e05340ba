"""A stage's options have an unknown key or a value that is not allowed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from goldsmith.catalog.pipelines import Stage
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.catalog.transforms import TRANSFORMS
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule
from goldsmith.planning.integrity.known import STAGE_OPTIONS, did_you_mean
from goldsmith.planning.integrity.remedies import LOOSENING, REMEDIES
from goldsmith.planning.resolved_stage import stage_id

_CHOICES: Mapping[str, tuple[str, ...]] = {
    "overwrite": ("partitions",),
    "partial": ("ok",),
    "read": ("new", "all"),
}


@catalog_rule(FindingSeverity.ERROR, reads=(Stage,))
def bad_options(rows: CatalogRows) -> Iterator[FoundProblem]:
    for stage in rows.rows(Stage):
        if stage.options:
            yield from _of_stage(stage)


def _of_stage(stage: Stage) -> Iterator[FoundProblem]:
    whose = stage_id(stage)
    for name, value in stage.options.items():
        if name not in STAGE_OPTIONS and name in TRANSFORMS:
            for problem, hint in TRANSFORMS.get(name).problems(value):
                yield FoundProblem(stage, f"options.{name} of stage {whose} {problem}", hint)
        elif name not in STAGE_OPTIONS:
            known = tuple(sorted((*STAGE_OPTIONS, *TRANSFORMS.names())))
            yield FoundProblem(
                stage,
                f"The options of stage {whose} hold '{name}', which nothing reads.",
                f"{did_you_mean(name, known)}Known: {', '.join(known)}.",
            )
        elif name in _CHOICES and value not in _CHOICES[name]:
            yield FoundProblem(
                stage,
                f"options.{name} of stage {whose} is '{str(value)[:100]}'.",
                f"It may be {' or '.join(_CHOICES[name])}.",
            )
        elif name == "remedies":
            yield from _of_remedies(stage, value)


def _of_remedies(stage: Stage, value: object) -> Iterator[FoundProblem]:
    """Accept only remedies that need permission: another name could be read as "only these"."""
    whose = f"options.remedies of stage {stage_id(stage)}"
    known = ", ".join(LOOSENING)
    if not isinstance(value, list | tuple):
        hint = f"It is a list of remedies: {known}."
        yield FoundProblem(stage, f"{whose} is '{str(value)[:100]}'.", hint)
        return
    for name in value:
        if name in REMEDIES and name not in LOOSENING:
            hint = f"Only remedies that loosen are named there: {known}. Others always act."
            yield FoundProblem(stage, f"{whose} names '{name}', which loosens nothing.", hint)
        elif name not in LOOSENING:
            sentence = f"{whose} names '{str(name)[:100]}', which is no remedy."
            yield FoundProblem(
                stage, sentence, f"{did_you_mean(str(name), LOOSENING)}Known: {known}."
            )
