"""A profile has a setting that nothing reads."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.profiles import SETTINGS, ProfileSetting
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule
from goldsmith.planning.integrity.known import did_you_mean


@catalog_rule(FindingSeverity.WARNING, reads=(ProfileSetting,))
def unknown_profile_setting(rows: CatalogRows) -> Iterator[FoundProblem]:
    for setting in rows.rows(ProfileSetting):
        if setting.setting_key not in SETTINGS:
            yield FoundProblem(
                setting,
                f"Profile '{setting.profile_id}' has the setting '{setting.setting_key}', which"
                " nothing reads.",
                f"{did_you_mean(setting.setting_key, SETTINGS)}Known: {', '.join(SETTINGS)}.",
            )
