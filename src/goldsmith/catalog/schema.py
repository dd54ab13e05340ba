"""The declared tables, in the order files list them."""

from __future__ import annotations

from collections.abc import Mapping

from goldsmith.catalog.applications import Application
from goldsmith.catalog.conventions import Convention
from goldsmith.catalog.datasets import Source, Target
from goldsmith.catalog.edges import ColumnLineage, Edge, RecoveryPath
from goldsmith.catalog.flags import Flag
from goldsmith.catalog.incidents import NotificationRoute, SeverityLevel
from goldsmith.catalog.pipelines import Pipeline, Stage
from goldsmith.catalog.profiles import PipelineProfile, Profile, ProfileSetting
from goldsmith.catalog.push_schedules import PushSchedule
from goldsmith.catalog.retries import HealingAction, HealingLimit, HealingStep, RetryPolicy
from goldsmith.catalog.rows import Row
from goldsmith.catalog.rules import RuleSet
from goldsmith.catalog.throttles import Throttle
from goldsmith.catalog.upkeep_schedules import CheckSchedule, MaintenanceSchedule, SlotPrice

DECLARED: tuple[type[Row], ...] = (
    Pipeline,
    Stage,
    Source,
    Target,
    RuleSet,
    Flag,
    RetryPolicy,
    HealingAction,
    HealingStep,
    HealingLimit,
    SeverityLevel,
    NotificationRoute,
    Profile,
    PipelineProfile,
    ProfileSetting,
    Throttle,
    MaintenanceSchedule,
    CheckSchedule,
    SlotPrice,
    PushSchedule,
    Application,
    Edge,
    ColumnLineage,
    Convention,
    RecoveryPath,
)

BY_TABLE: Mapping[str, type[Row]] = {row.table.name: row for row in DECLARED}
