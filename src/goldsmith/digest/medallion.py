"""Which layer a dataset belongs to and in which order stages run, with the reason."""

from __future__ import annotations

from typing import NamedTuple

from goldsmith.digest.names import is_location
from goldsmith.digest.values import Digest

LAYERS = ("raw", "bronze", "silver", "gold")
_ORDER = {layer: index for index, layer in enumerate(LAYERS)}
_PREFIXES = {
    "raw": "raw",
    "landing": "raw",
    "bronze": "bronze",
    "stg": "bronze",
    "staging": "bronze",
    "silver": "silver",
    "gold": "gold",
    "mart": "gold",
    "marts": "gold",
}


class LayerGuess(NamedTuple):
    """A layer, its stage order, and why."""

    layer: str
    order: int
    reason: str


def named_layer(name: str) -> tuple[str, str] | None:
    """The layer a dataset's name or schema says, with the word that says it."""
    if is_location(name):
        return "raw", "files"
    for part in reversed(name.lower().split(".")):
        for piece in (part, part.split("_")[0], part.split("_")[-1]):
            if piece in _PREFIXES:
                return _PREFIXES[piece], piece
    return None


def layers_of(digest: Digest) -> dict[str, LayerGuess]:
    """The layer of every dataset: by name, else by what the statements do."""
    found: dict[str, LayerGuess] = {}
    writers = {name: s for s in digest.statements for name in s.downstream}
    read = {up for up, _ in digest.edges}
    for name in digest.datasets():
        named = named_layer(name)
        if named is not None:
            found[name] = _guess(named[0], f"its name says '{named[1]}'")
    for name in digest.datasets():
        if name in found:
            continue
        statement = writers.get(name)
        if statement is None:
            found[name] = _guess("raw", "nothing here writes it")
            continue
        inputs = [found[up] for up in statement.upstream if up in found]
        if statement.upstream and all(is_location(up) for up in statement.upstream):
            found[name] = _guess("bronze", "it is loaded from files only")
        elif statement.aggregates and name not in read:
            found[name] = _guess("gold", "it aggregates, and nothing here reads it")
        elif any(guess.layer in ("silver", "gold") for guess in inputs):
            found[name] = _guess("gold", "it is made from silver datasets")
        elif (
            statement.joins
            or statement.write == "merge"
            or any(g.layer == "bronze" for g in inputs)
        ):
            found[name] = _guess("silver", "it joins, merges or cleans bronze datasets")
        else:
            found[name] = _guess("silver", "it is made from other tables")
    return found


def _guess(layer: str, reason: str) -> LayerGuess:
    return LayerGuess(layer, _ORDER[layer], reason)
