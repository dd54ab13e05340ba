"""Our checks by another tool's names: an alias read backwards, and proved by reading it again.

A check is carried over only where the tool's words, read as an alias, mean exactly our check; what
the tool cannot say is told, never bent.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from goldsmith.checks.aliases.alias import Alias
from goldsmith.checks.aliases.translate import translated
from goldsmith.checks.check import CHECKS

Settings = dict[str, Any]
#: For checks whose words there depend on more than the setting's name.
Ways = Mapping[str, Callable[[Settings], Iterator[tuple[str, Settings]]]]
#: What every check may say that says nothing of the data.
_OURS_ALONE = ("on_fail", "severity", "description", "name", "scope", "max_broken", "where")


def own_settings(entry: Mapping[str, Any]) -> Settings:
    """What the check says of the data, by our names, defaults left out."""
    ours = dict(translated(entry))
    check = CHECKS.get(str(ours["type"]))
    return {
        name: value
        for name, value in ours.items()
        if name not in _OURS_ALONE
        and value is not None
        and not (name in check.settings and check.settings[name].default == value)
        and (name, value) != ("mostly", 1)
    }


def written(
    entry: Mapping[str, Any],
    aliases: Mapping[str, Alias],
    *,
    takes: Collection[str],
    other_ways: Ways,
    prefix: str = "",
) -> tuple[str, Settings] | None:
    """The check in a tool's words; None where the tool cannot say it.

    `takes` are settings that the tool calls as we do.
    """
    wanted = own_settings(entry)
    for name, theirs in _candidates(wanted, aliases, takes, other_ways):
        said = {"type": f"{prefix}{name}", **theirs}
        try:
            if _alike(own_settings(said), wanted):
                return name, theirs
        except (KeyError, TypeError, ValueError):
            continue
    return None


def _candidates(
    wanted: Settings, aliases: Mapping[str, Alias], takes: Collection[str], other_ways: Ways
) -> Iterator[tuple[str, Settings]]:
    kind = str(wanted["type"])
    plain = {name: value for name, value in wanted.items() if name != "type"}
    if kind in other_ways:
        yield from other_ways[kind](dict(plain))
        return
    for name, alias in aliases.items():
        if alias.to != kind:
            continue
        theirs = {ours: their for their, ours in alias.renamed.items()}
        given = {k: v for k, v in plain.items() if alias.implied.get(k) != v}
        if all(one in theirs or one in takes for one in given):
            yield name, {theirs.get(one, one): value for one, value in given.items()}


def _alike(one: Settings, other: Settings) -> bool:
    return bool(_plain(one) == _plain(other))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        # One column said as a list of one is the same column.
        said = {k: _plain(v) for k, v in value.items()}
        if "column" in said and "columns" not in said and said.get("type") == "unique":
            said["columns"] = [said.pop("column")]
        return said
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(item) for item in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value
