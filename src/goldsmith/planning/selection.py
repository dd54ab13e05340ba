"""Selections: find the stages that `orders`, `+silver.orders`, `tag:finance` … select."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from goldsmith.catalog.pipelines import Pipeline
from goldsmith.errors import GoldsmithError, nearest, one_of
from goldsmith.planning.catalog_index import CatalogIndex

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


def select(catalog_index: CatalogIndex, selection: Sequence[str]) -> tuple[str, ...]:
    """The selected stages in the order they run; an empty selection selects all."""
    if not selection:
        return catalog_index.order
    chosen: set[str] = set()
    for selector in selection:
        chosen |= _matching(catalog_index, selector)
    return tuple(name for name in catalog_index.order if name in chosen)


def _matching(catalog_index: CatalogIndex, selector: str) -> set[str]:
    found = _named(catalog_index, selector)
    if found is not None:
        return found  # an id may hold a plus sign of its own
    match = _SIDES.match(selector)
    if match is None or (match["up"] is None and match["down"] is None):
        raise NothingSelected(selection=selector, known=_known(catalog_index))
    core = _named(catalog_index, match["what"])
    if core is None:
        raise NothingSelected(selection=match["what"], known=_known(catalog_index))
    chosen = set(core)
    if match["up"] is not None:
        chosen |= _reached(core, catalog_index.upstream, match["up"])
    if match["down"] is not None:
        chosen |= _reached(core, _turned(catalog_index.upstream), match["down"])
    return chosen


def _named(catalog_index: CatalogIndex, selector: str) -> set[str] | None:
    """The stages a name selects, without up- or downstream; None where nothing has that name."""
    kind, colon, name = selector.partition(":")
    if colon and kind in _KINDS:
        return _FINDERS[kind](catalog_index, name)
    for find in (_of_pipeline, _of_dataset, _of_dotted):
        found = find(catalog_index, selector)
        if found is not None:
            return found
    return None


def _of_pipeline(catalog_index: CatalogIndex, name: str) -> set[str] | None:
    stages = catalog_index.rows.stages_of.get(name)
    if stages is None:
        return set() if name in catalog_index.rows.pipeline_ids else None
    return {f"{name}-{stage.stage_order}" for stage in stages}


def _of_dataset(catalog_index: CatalogIndex, name: str) -> set[str] | None:
    """The stages that write a dataset; if no stage writes it, the stages that read it."""
    writers = catalog_index.rows.writers_of.get(name, ())
    if writers:
        return {f"{stage.pipeline_id}-{stage.stage_order}" for stage in writers}
    if name not in catalog_index.rows.dataset_ids:
        return None
    return set(catalog_index.dependents.get(("dataset", name), ()))


def _of_dotted(catalog_index: CatalogIndex, selector: str) -> set[str] | None:
    """`pipeline.stage`: ids may hold dots, so the name is split at every dot."""
    dots = [dot for dot, letter in enumerate(selector) if letter == "."]
    found = {
        f"{stage.pipeline_id}-{stage.stage_order}"
        for dot in dots
        for stage in catalog_index.rows.stages_of.get(selector[:dot], ())
        if stage.stage_name == selector[dot + 1 :]
    }
    return found or None


def _of_stage(catalog_index: CatalogIndex, name: str) -> set[str] | None:
    return {name} if name in catalog_index.stages else _of_dotted(catalog_index, name)


def _of_tag(catalog_index: CatalogIndex, name: str) -> set[str] | None:
    tagged = {row.pipeline_id for row in catalog_index.rows.rows(Pipeline) if name in row.tags}
    found = {stage for pipeline in tagged for stage in _of_pipeline(catalog_index, pipeline) or ()}
    return found if tagged else None


def _of_layer(catalog_index: CatalogIndex, name: str) -> set[str] | None:
    return {
        key for key, context in catalog_index.stages.items() if context.resolved.layer == name
    } or None


_FINDERS: Mapping[str, Callable[[CatalogIndex, str], set[str] | None]] = {
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


def _known(catalog_index: CatalogIndex) -> tuple[str, ...]:
    return tuple(sorted(catalog_index.rows.pipeline_ids | catalog_index.rows.dataset_ids))
