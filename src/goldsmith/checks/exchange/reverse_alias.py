"""Translate checks into another tool's names: reverse an alias, then verify by translating back.

A check is exported only if the result translates back into exactly the same check. Checks that the
tool cannot express are reported, never approximated.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from goldsmith.checks.aliases.alias import Alias
from goldsmith.checks.aliases.translate import translated
from goldsmith.checks.check import CHECKS
from goldsmith.registry import UnknownName

Settings = dict[str, Any]
#: Exporters of checks that need more than renamed settings.
Ways = Mapping[str, Callable[[Settings], Iterator[tuple[str, Settings]]]]
#: Common settings that aliases do not translate.
_OURS_ALONE = ("on_fail", "severity", "description", "name", "scope", "max_broken", "where")


def own_settings(entry: Mapping[str, Any]) -> Settings:
    """The check's settings by Goldsmith's names, without common settings and defaults."""
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


def why_not(entry: Mapping[str, Any]) -> list[str]:
    """Why an imported entry is no valid check."""
    kind = str(entry.get("type"))
    if kind not in CHECKS:
        return ["no check of that name is known"]
    return [f"it {problem}" for problem in CHECKS.get(kind).problems(entry)]


def written(
    entry: Mapping[str, Any],
    aliases: Mapping[str, Alias],
    *,
    takes: Collection[str],
    other_ways: Ways,
    prefix: str = "",
) -> tuple[str, Settings] | None:
    """The check by the tool's name and settings; None for a wrong one or one it cannot express.

    `takes` are settings that have the same name in the tool.
    """
    if why_not(translated(entry)):
        return None
    wanted = own_settings(entry)
    for name, theirs in _candidates(wanted, aliases, takes, other_ways):
        candidate = {"type": f"{prefix}{name}", **theirs}
        try:
            # `_to_equal` without a number has the same settings as `_to_be_between` without bounds.
            if _alike(own_settings(candidate), wanted) and not why_not(translated(candidate)):
                return name, theirs
        except (KeyError, TypeError, ValueError, UnknownName):
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
        if all(setting in theirs or setting in takes for setting in given):
            yield name, {theirs.get(setting, setting): value for setting, value in given.items()}


def _alike(left: Settings, right: Settings) -> bool:
    return bool(_plain(left) == _plain(right))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        # `column: a` and `columns: [a]` mean the same.
        settings = {k: _plain(v) for k, v in value.items()}
        if "column" in settings and "columns" not in settings and settings.get("type") == "unique":
            settings["columns"] = [settings.pop("column")]
        return settings
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(item) for item in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value
