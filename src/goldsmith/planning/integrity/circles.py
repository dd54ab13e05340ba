"""Circles: names that lead back to themselves."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping


def circles(leads_to: Mapping[str, Collection[str]]) -> Iterator[tuple[str, ...]]:
    """Circles of names, each beginning with its first in the alphabet.

    Every name that is on some circle is found as long as circles do not share names; of
    circles that do, at least one is.
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
    """A circle as people draw it: `a → b → a`."""
    shown = circle if len(circle) <= 12 else (*circle[:11], "…")
    return " → ".join((*shown, circle[0]))
