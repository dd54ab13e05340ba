"""Resolve a stage's settings: fill in every default, so that a minimal row can run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from goldsmith.catalog.datasets import LAKE_TYPES, Target
from goldsmith.catalog.edges import Edge
from goldsmith.catalog.pipelines import Stage
from goldsmith.catalog.write_modes import MODE_OPTION, WRITE_MODES, Replaces, WriteMode

LAYERS = ("bronze", "silver", "gold")
_LONGEST = max(map(len, LAYERS))
#: Columns that a bronze stage adds to every row.
BRONZE_COLUMNS = ("_source_file", "_ingested_at", "_run_id")
SCHEMA_POLICIES = ("evolve", "freeze", "discard_row", "discard_value")


class ResolvedStage(NamedTuple):
    """The settings a stage runs with, defaults included."""

    layer: str
    write_mode: str
    schema_policy: Mapping[str, str]
    #: Which rows of `source_id` are read: `new` or `all`.
    read: str
    sql: str | None
    dialect: str | None
    #: Which existing rows of the target a write replaces.
    replaces: Replaces

    @property
    def mode(self) -> WriteMode:
        return WRITE_MODES.get(self.write_mode)

    @property
    def appends(self) -> bool:
        """Existing rows stay: rows that are read again are deleted first, or come twice."""
        return self.replaces is Replaces.NOTHING


def resolve_stage(stage: Stage, edge: Edge | None) -> ResolvedStage:
    """A stage's settings with every default filled in."""
    layer = layer_of(stage)
    name = write_mode_of(stage)
    mode = WRITE_MODES.get(name)
    policy = stage.schema_policy
    if policy is None:
        policy = "evolve" if layer == "bronze" else "freeze"
    read = stage.options.get("read") or mode.reads
    sql = stage.transform_sql
    if sql is None and edge is not None:
        sql = edge.transformation_sql
    return ResolvedStage(
        layer=layer,
        write_mode=name,
        schema_policy=policy_of(policy),
        read=str(read),
        sql=sql,
        dialect=stage.transform_dialect,
        replaces=mode.replaces(stage.options),
    )


def layer_of(stage: Stage) -> str:
    """A stage's layer, from its row or by default."""
    return (
        stage.layer
        or _begins_with(stage.target_id)
        or _begins_with(stage.stage_name)
        or _nth(stage)
    )


def write_mode_of(stage: Stage) -> str:
    """A stage's write mode, from its row or by default."""
    return _named_mode(stage) or _write_mode(layer_of(stage), stage)[0]


def _named_mode(stage: Stage) -> str | None:
    """The write mode that the row names; an unknown name is a finding."""
    if stage.write_mode is not None or MODE_OPTION not in stage.options:
        return stage.write_mode
    name = stage.options[MODE_OPTION]
    return name if isinstance(name, str) and name in WRITE_MODES else None


def mode_of(stage: Stage) -> WriteMode:
    """The declaration of a stage's write mode."""
    return WRITE_MODES.get(write_mode_of(stage))


def keeps_rows(stage: Stage) -> bool:
    """Rows the stage wrote stay in its target until other rows of their keys replace them."""
    return mode_of(stage).replaces(stage.options).keeps_rows


def defaults_of(stage: Stage, resolved: ResolvedStage) -> Mapping[str, tuple[str, str]]:
    """The settings the row leaves out: the default of each, and why."""
    defaults: dict[str, tuple[str, str]] = {}
    if stage.layer is None:
        defaults["layer"] = (resolved.layer, _why_layer(stage))
    if _named_mode(stage) is None:
        defaults["write_mode"] = _write_mode(resolved.layer, stage)
    if stage.schema_policy is None:
        policy = resolved.schema_policy["columns"]
        defaults["schema_policy"] = (policy, f"it is a {resolved.layer} stage")
    if stage.options.get("read") is None:
        what = "everything" if resolved.read == "all" else "new rows"
        defaults["read"] = (resolved.read, f"{resolved.write_mode} reads {what}")
    if stage.transform_sql is None and resolved.sql is not None:
        defaults["transform_sql"] = ("the edge's", "the stage has none of its own")
    elif resolved.sql is None:
        defaults["transform_sql"] = ("all columns", "neither stage nor edge has SQL")
    return defaults


def _begins_with(name: str | None) -> str | None:
    """The layer a name begins with."""
    head = (name or "")[:_LONGEST].lower()
    return (
        head
        if head in LAYERS
        else next((layer for layer in LAYERS if head.startswith(layer)), None)
    )


def _nth(stage: Stage) -> str:
    """The layer by `stage_order`: 1 is bronze, 2 silver, 3 and above gold."""
    return LAYERS[min(max(stage.stage_order, 1), len(LAYERS)) - 1]


def _why_layer(stage: Stage) -> str:
    for name, whose in ((stage.target_id, "target"), (stage.stage_name, "stage")):
        if _begins_with(name):
            return f"the {whose}'s name '{name}' begins with it"
    return f"stage_order is {stage.stage_order}"


def _write_mode(layer: str, stage: Stage) -> tuple[str, str]:
    if layer == "gold":
        return "overwrite", "it is a gold stage"
    if layer == "bronze":
        return "append", "it is a bronze stage"
    if stage.keys:
        return "merge", f"it is a {layer} stage with keys"
    return "append", f"it is a {layer} stage without keys"


def policy_of(policy: str | Mapping[str, str]) -> Mapping[str, str]:
    if isinstance(policy, str):
        return _POLICIES.get(policy) or {"columns": policy, "types": policy}
    return {"columns": "evolve", "types": "evolve", **policy}


_POLICIES = {policy: {"columns": policy, "types": policy} for policy in SCHEMA_POLICIES}


def is_lake(target: Target | None) -> bool:
    """The target is an Iceberg table of the lake, not a warehouse table."""
    return target is not None and (target.type or "s3") in LAKE_TYPES


def stage_id(stage: Stage) -> str:
    """The id of a stage, as in flags and selections: pipeline_id-stage_order."""
    return f"{stage.pipeline_id}-{stage.stage_order}"


def lake_name(target_id: str, layer: str) -> str:
    """The name of a target's Iceberg table."""
    return f"lake.{layer}.{table_part(target_id)}"


def table_part(target_id: str) -> str:
    """A target id as one part of a table name; dots, which separate parts, become `__`."""
    return target_id.replace(".", "__")
