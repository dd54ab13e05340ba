"""Find cycles in a directed graph of names."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping


def circles(leads_to: Mapping[str, Collection[str]]) -> Iterator[tuple[str, ...]]:
    """Cycles of names, each starting with its alphabetically first name.

    All cycles are found if no two share a name; of cycles that share names at least one is found.
    """
    done: set[str] = set()
    for first in leads_to:
        if first in done:
            continue
        path = {first: iter(leads_to[first])}
        while path:
            name = next(reversed(path))
            following = next(path[name], None)
            if following is None:
                done.add(name)
                del path[name]
            elif following in path:
                trail = tuple(path)
                yield _from_its_first(trail[trail.index(following) :])
            elif following not in done and following in leads_to:
                path[following] = iter(leads_to[following])


def _from_its_first(circle: tuple[str, ...]) -> tuple[str, ...]:
    start = circle.index(min(circle))
    return circle[start:] + circle[:start]


def drawn(circle: tuple[str, ...]) -> str:
    """A cycle as text: `a → b → a`."""
    shown = circle if len(circle) <= 12 else (*circle[:11], "…")
    return " → ".join((*shown, circle[0]))
