"""A setting of a profile has a value outside of its range."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.profiles import ProfileSetting
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule

#: Settings whose values are a share, or 0 or 1; all others are 0 or more.
_UP_TO_ONE = ("noncritical_floor",)
_SWITCHES = ("preempt", "spread_starts", "yield_to_shorter")


@catalog_rule(FindingSeverity.ERROR, reads=(ProfileSetting,))
def bad_profile_setting(rows: CatalogRows) -> Iterator[FoundProblem]:
    for setting in rows.rows(ProfileSetting):
        value, key = setting.setting_value, setting.setting_key
        if value is None:
            continue
        if key in _SWITCHES:
            wrong, may = value not in (0, 1), "0 or 1"
        elif key in _UP_TO_ONE:
            wrong, may = not 0 <= value <= 1, "from 0 to 1"
        else:
            wrong, may = not 0 <= value < float("inf"), "0 or more"
        if wrong:
            yield FoundProblem(
                setting,
                f"Setting '{key}' of profile '{setting.profile_id}' is {value:g}.",
                f"It may be {may}.",
            )
