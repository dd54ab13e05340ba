"""Selections: which stages somebody means by `orders`, `+silver.orders`, `tag:finance` …"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from goldsmith.catalog.pipelines import Pipeline
from goldsmith.errors import GoldsmithError, nearest, one_of
from goldsmith.planning.survey import Survey

_SIDES = re.compile(r"(?:(?P<up>\d*)\+)?(?P<what>.+?)(?:\+(?P<down>\d*))?\Z", re.DOTALL)
_KINDS = ("pipeline", "dataset", "stage", "tag", "layer")


@dataclass(eq=False, kw_only=True)
class NothingSelected(GoldsmithError):
    """A selection names something that is not in the catalog."""

    selection: str
    known: tuple[str, ...]

    def __str__(self) -> str:
        return f"Nothing in the catalog is called '{self.selection}'."

    @property
    def hint(self) -> str:
        guess = nearest(self.selection, self.known)
        meant = f"Did you mean '{guess}'? " if guess else ""
        some = f"There are: {one_of(self.known)}. " if self.known else "The catalog is empty. "
        return (
            meant + some + "A pipeline, a dataset, pipeline.stage, or pipeline:, dataset:, "
            "stage:, tag:, layer: and a name; +x, x+, x+2 add what is up- and downstream."
        )


def select(survey: Survey, selection: Sequence[str]) -> tuple[str, ...]:
    """The stages that are meant, in the order they run; no selection means all."""
    if not selection:
        return survey.order
    chosen: set[str] = set()
    for said in selection:
        chosen |= _one(survey, said)
    return tuple(name for name in survey.order if name in chosen)


def _one(survey: Survey, said: str) -> set[str]:
    found = _named(survey, said)
    if found is not None:
        return found  # an id may hold a plus sign of its own
    match = _SIDES.match(said)
    if match is None or (match["up"] is None and match["down"] is None):
        raise NothingSelected(selection=said, known=_known(survey))
    core = _named(survey, match["what"])
    if core is None:
        raise NothingSelected(selection=match["what"], known=_known(survey))
    chosen = set(core)
    if match["up"] is not None:
        chosen |= _reached(core, survey.upstream, match["up"])
    if match["down"] is not None:
        chosen |= _reached(core, _turned(survey.upstream), match["down"])
    return chosen


def _named(survey: Survey, said: str) -> set[str] | None:
    """The stages of one name, without their neighbours; None where nothing has that name."""
    kind, colon, name = said.partition(":")
    if colon and kind in _KINDS:
        return _FINDERS[kind](survey, name)
    for find in (_of_pipeline, _of_dataset, _of_dotted):
        found = find(survey, said)
        if found is not None:
            return found
    return None


def _of_pipeline(survey: Survey, name: str) -> set[str] | None:
    stages = survey.rows.stages_of.get(name)
    if stages is None:
        return set() if name in survey.rows.pipeline_ids else None
    return {f"{name}-{stage.stage_order}" for stage in stages}


def _of_dataset(survey: Survey, name: str) -> set[str] | None:
    """The stages that write a dataset; of one that nothing writes, the stages that read it."""
    writers = survey.rows.writers_of.get(name, ())
    if writers:
        return {f"{stage.pipeline_id}-{stage.stage_order}" for stage in writers}
    if name not in survey.rows.dataset_ids:
        return None
    return set(survey.dependents.get(("dataset", name), ()))


def _of_dotted(survey: Survey, said: str) -> set[str] | None:
    """`pipeline.stage`: ids may hold dots, so every place to split is tried."""
    places = [place for place, letter in enumerate(said) if letter == "."]
    found = {
        f"{stage.pipeline_id}-{stage.stage_order}"
        for place in places
        for stage in survey.rows.stages_of.get(said[:place], ())
        if stage.stage_name == said[place + 1 :]
    }
    return found or None


def _of_stage(survey: Survey, name: str) -> set[str] | None:
    return {name} if name in survey.stages else _of_dotted(survey, name)


def _of_tag(survey: Survey, name: str) -> set[str] | None:
    tagged = {row.pipeline_id for row in survey.rows.rows(Pipeline) if name in row.tags}
    found = {one for pipeline in tagged for one in _of_pipeline(survey, pipeline) or ()}
    return found if tagged else None


def _of_layer(survey: Survey, name: str) -> set[str] | None:
    return {key for key, near in survey.stages.items() if near.words.layer == name} or None


_FINDERS: Mapping[str, Callable[[Survey, str], set[str] | None]] = {
    "pipeline": _of_pipeline,
    "dataset": _of_dataset,
    "stage": _of_stage,
    "tag": _of_tag,
    "layer": _of_layer,
}


def _reached(start: Iterable[str], edges: Mapping[str, Iterable[str]], hops: str) -> set[str]:
    left = int(hops) if hops else len(edges) + 1
    reached: set[str] = set()
    edge = set(start)
    while edge and left > 0:
        edge = {after for name in edge for after in edges.get(name, ())} - reached
        reached |= edge
        left -= 1
    return reached


def _turned(edges: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
    turned: dict[str, list[str]] = {}
    for name, befores in edges.items():
        for before in befores:
            turned.setdefault(before, []).append(name)
    return turned


def _known(survey: Survey) -> tuple[str, ...]:
    return tuple(sorted(survey.rows.pipeline_ids | survey.rows.dataset_ids))
