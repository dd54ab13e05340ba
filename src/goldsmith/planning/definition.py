"""The definition of a stage: a hash of everything that decides what its rows are."""

from __future__ import annotations

import hashlib
import json

from goldsmith.planning.neighbourhood import Neighbourhood

CHANGED = "its definition changed since it was last published"


def definition_of(near: Neighbourhood) -> str:
    """A hash of everything that decides what a stage's rows are."""
    said = {
        "sql": near.words.sql,
        "dialect": near.words.dialect,
        "mode": near.words.write_mode,
        "keys": near.stage.keys,
        "watermark": near.stage.watermark_column,
        "partition_by": near.stage.partition_by,
        "options": dict(near.stage.options),
        "inputs": [dataset.dataset_id for dataset in near.inputs],
    }
    text = json.dumps(said, sort_keys=True, default=str)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def reruns(near: Neighbourhood) -> bool:
    """A changed definition makes the stage run again by itself: it replaces all it wrote."""
    return near.words.write_mode == "overwrite"


def says_changed(near: Neighbourhood) -> str:
    """What a changed definition means for a stage, in words."""
    if reruns(near):
        return CHANGED
    return f"{CHANGED}: only `goldsmith run --full-refresh` brings older rows in line with it"
