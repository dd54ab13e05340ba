"""A pipeline or a setting names a profile that does not exist, or a profile is assigned to a
pipeline that does not exist."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.pipelines import Pipeline
from goldsmith.catalog.profiles import PipelineProfile, Profile, ProfileSetting
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.errors import one_of
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule
from goldsmith.planning.integrity.known import did_you_mean


@catalog_rule(FindingSeverity.WARNING, reads=(Profile, PipelineProfile, ProfileSetting, Pipeline))
def unknown_profile(rows: CatalogRows) -> Iterator[FoundProblem]:
    profiles = rows.table(Profile)
    names = [key[0] for key in profiles]
    for row in rows.rows(PipelineProfile):
        if (row.pipeline_id,) not in rows.table(Pipeline):
            yield FoundProblem(
                row,
                f"A profile is given to pipeline '{row.pipeline_id}', which has no row in"
                " pipelines.",
                f"{did_you_mean(row.pipeline_id, rows.pipeline_ids)}Correct pipeline_id, or remove"
                " the row.",
            )
        if (row.profile_id,) not in profiles:
            yield FoundProblem(
                row,
                f"Pipeline '{row.pipeline_id}' has the profile '{row.profile_id}', which has no row"
                " in profiles.",
                f"{did_you_mean(row.profile_id or '', names)}Known: {one_of(names)}.",
            )
    for setting in rows.rows(ProfileSetting):
        if (setting.profile_id,) not in profiles:
            yield FoundProblem(
                setting,
                f"The setting {setting.setting_key} is of profile '{setting.profile_id}', which has"
                " no row in profiles.",
                f"{did_you_mean(setting.profile_id, names)}Known: {one_of(names)}.",
            )
