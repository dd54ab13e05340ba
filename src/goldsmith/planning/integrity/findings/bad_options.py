"""A stage's options have an unknown key or a value that is not allowed."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.options import Option
from goldsmith.catalog.pipelines import Stage
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.catalog.transforms import TRANSFORMS
from goldsmith.catalog.write_modes import MODE_OPTION, WRITE_MODES
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule
from goldsmith.planning.integrity.known import STAGE_OPTIONS, did_you_mean
from goldsmith.planning.integrity.remedies import built_in, loosening
from goldsmith.planning.resolved_stage import mode_of, stage_id


def _by_name(options: tuple[Option, ...]) -> dict[str, Option]:
    return {option.name: option for option in options}


#: The finding NoPartitionsToReplace says where a stage of another mode has this option.
_OF_OVERWRITE = _by_name(WRITE_MODES.get("overwrite").options)


@catalog_rule(FindingSeverity.ERROR, reads=(Stage,))
def bad_options(rows: CatalogRows) -> Iterator[FoundProblem]:
    for stage in rows.rows(Stage):
        if stage.options:
            yield from _of_stage(stage)


def _of_stage(stage: Stage) -> Iterator[FoundProblem]:
    whose = stage_id(stage)
    options = {**STAGE_OPTIONS, **_OF_OVERWRITE, **_by_name(mode_of(stage).options)}
    for name, value in stage.options.items():
        if name not in options and name in TRANSFORMS:
            for problem, hint in TRANSFORMS.get(name).problems(value):
                yield FoundProblem(stage, f"options.{name} of stage {whose} {problem}", hint)
        elif name not in options:
            known = tuple(sorted((*options, *TRANSFORMS.names())))
            yield FoundProblem(
                stage,
                f"The options of stage {whose} hold '{name}', which nothing reads.",
                f"{did_you_mean(name, known)}Known: {', '.join(known)}.",
            )
        elif (choices := options[name].choices) and value not in choices:
            yield FoundProblem(
                stage,
                f"options.{name} of stage {whose} is '{str(value)[:100]}'.",
                f"It may be {' or '.join(choices)}.",
            )
        elif name == MODE_OPTION:
            yield from _of_write_mode(stage, value)
        elif name == "remedies":
            yield from _of_remedies(stage, value)


def _of_write_mode(stage: Stage, value: object) -> Iterator[FoundProblem]:
    whose = f"options.{MODE_OPTION} of stage {stage_id(stage)}"
    if not isinstance(value, str) or value not in WRITE_MODES:
        known = WRITE_MODES.names()
        sentence = f"{whose} is '{str(value)[:100]}', which is no write mode."
        yield FoundProblem(
            stage, sentence, f"{did_you_mean(str(value), known)}Known: {', '.join(known)}."
        )
    elif stage.write_mode is not None:
        sentence = f"{whose} is '{value}', and its column write_mode is '{stage.write_mode}'."
        yield FoundProblem(stage, sentence, "Take one of the two away.")


def _of_remedies(stage: Stage, value: object) -> Iterator[FoundProblem]:
    """Accept only remedies that need permission: another name could be read as "only these"."""
    whose = f"options.remedies of stage {stage_id(stage)}"
    known = ", ".join(loosening())
    if not isinstance(value, list | tuple):
        hint = f"It is a list of remedies: {known}."
        yield FoundProblem(stage, f"{whose} is '{str(value)[:100]}'.", hint)
        return
    for name in value:
        if name in built_in() and name not in loosening():
            hint = f"Only remedies that loosen are named there: {known}. Others always act."
            yield FoundProblem(stage, f"{whose} names '{name}', which loosens nothing.", hint)
        elif name not in loosening():
            sentence = f"{whose} names '{str(name)[:100]}', which is no remedy."
            yield FoundProblem(
                stage, sentence, f"{did_you_mean(str(name), loosening())}Known: {known}."
            )
