"""The definition of a stage: a hash of everything that decides which rows it writes."""

from __future__ import annotations

import hashlib
import json

from goldsmith.planning.stage_context import StageContext


def definition_of(context: StageContext) -> str:
    """A hash of everything that decides which rows a stage writes.

    By keys, rows of another way replace those of the default and are replaced by them: the
    definition is the same. An overwrite must run again when its default is back.
    """
    if not reruns(context):
        context = context.declared
    parts = {
        "sql": context.resolved.sql,
        "dialect": context.resolved.dialect,
        "mode": context.resolved.write_mode,
        "keys": context.stage.keys,
        "watermark": context.stage.watermark_column,
        "partition_by": context.stage.partition_by,
        # Permissions for remedies do not decide which rows a stage writes.
        "options": {k: v for k, v in context.stage.options.items() if k != "remedies"},
        "inputs": [dataset.dataset_id for dataset in context.inputs],
    }
    text = json.dumps(parts, sort_keys=True, default=str)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def reruns(context: StageContext) -> bool:
    """A changed definition makes the stage run again, because it replaces the rows it wrote."""
    return not context.resolved.replaces.keeps_rows
