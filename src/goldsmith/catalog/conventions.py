"""Conventions: what SQL does not say about a dataset or stage, by layer."""

from __future__ import annotations

from goldsmith.catalog.columns import key, text, whole
from goldsmith.catalog.rows import Row, table


@table(
    "digest_conventions",
    purpose="Values that `digest --apply` writes and SQL does not contain: one row for each layer.",
    read_by="digest",
    takes_effect="at the next digest",
)
class Convention(Row):
    """How datasets and stages of one layer are named and stored.

    Patterns may use {dataset} (the whole id), {name} (the id without the layer's prefix and
    schema) and {layer}.
    """

    layer: str = key(doc="raw, bronze, silver or gold.")
    location: str | None = text(
        default=None, doc="Pattern of the location: `s3://company/silver/{name}/`, `{dataset}`."
    )
    type: str | None = text(default=None, doc="The type of a target: s3, redshift …")
    file_format: str | None = text(default=None, doc="The file format of a source.")
    schema_arn: str | None = text(default=None, doc="Pattern of a source's schema ARN.")
    stage_order: int | None = whole(default=None, doc="The order of the layer's stage.", least=0)
    stage_name: str | None = text(default=None, doc="Pattern of the stage's name.")
    transform_name: str | None = text(default=None, doc="Pattern of an edge's transform name.")
    rule_set_id: str | None = text(default=None, doc="The rule set of the layer's stages.")
