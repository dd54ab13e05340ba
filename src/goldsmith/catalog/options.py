"""The keys of `options` of stages, targets and sources: names, types, defaults, examples."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Option:
    """One key of an `options` column."""

    name: str
    type: str
    default: str
    doc: str
    example: str
    #: The values it may have; empty: any.
    choices: tuple[str, ...] = ()


#: Beside these, every transform has a key: the files of `engine/shape/transforms`. A write mode
#: may have keys too: see `options` in the files of `engine/write/modes`.
STAGE = (
    Option(
        name="description",
        type="text",
        default="none",
        doc="What the stage is for. Nothing reads it.",
        example="one row an order",
    ),
    Option(
        name="optional",
        type="true or false",
        default="false",
        doc="The remedy `skip_optional` may leave the stage out of a run when it fails.",
        example="true",
    ),
    Option(
        name="partial",
        type="`ok`",
        default="a finding",
        doc="Confirms that aggregates or window functions over only the new rows are intended.",
        example="ok",
        choices=("ok",),
    ),
    Option(
        name="read",
        type="`new` or `all`",
        default="`all` for overwrite, else `new`",
        doc="Whether `source_id` is read incrementally or in full each time.",
        example="all",
        choices=("new", "all"),
    ),
    Option(
        name="remedies",
        type="list of remedies",
        default="none",
        doc="Remedies that may relax a check or the schema policy of this stage.",
        example="[evolve_schema, quarantine_rows]",
    ),
    Option(
        name="write_mode",
        type="a write mode",
        default="the column `write_mode`",
        doc="A write mode of another package. The column, which cannot name it, stays empty.",
        example="replace_days",
    ),
)

TARGET = (
    Option(
        name="pii",
        type="a column's name, or a list of them",
        default="none",
        doc="Columns with personal data: their values are masked wherever rows are shown.",
        example="[email, phone]",
    ),
    Option(
        name="properties",
        type="mapping of text to text",
        default="Iceberg's own",
        doc="Properties of a new Iceberg table. Lake targets only.",
        example="{write.target-file-size-bytes: '134217728'}",
    ),
    Option(
        name="retain_days",
        type="number",
        default="5",
        doc="`datasets maintain` keeps the snapshots of this many days. Lake targets only.",
        example="30",
    ),
    Option(
        name="throttle_group",
        type="a name",
        default="none",
        doc="The group that throttles with `entity_type` group may name in `entity_id`.",
        example="shared_cluster",
    ),
    Option(
        name="distkey",
        type="a column's name",
        default="Redshift's choice",
        doc="DISTKEY of a new Redshift table.",
        example="customer_id",
    ),
    Option(
        name="diststyle",
        type="`auto`, `even`, `key` or `all`",
        default="`key` with a `distkey`, else Redshift's choice",
        doc="DISTSTYLE of a new Redshift table.",
        example="all",
    ),
    Option(
        name="encode",
        type="mapping of a column to an encoding",
        default="Redshift's choice",
        doc="How Redshift compresses a column of a new table.",
        example="{payload: zstd}",
    ),
    Option(
        name="sortkey",
        type="a column's name, or a list of them",
        default="none",
        doc="SORTKEY of a new Redshift table.",
        example="[day, shop]",
    ),
    Option(
        name="sortkey_style",
        type="`compound` or `interleaved`",
        default="`compound`",
        doc="How the columns of `sortkey` are sorted.",
        example="interleaved",
    ),
)

#: Options of a source that no reader of files sees.
OF_ANY_SOURCE = frozenset(("arrival_queue", "probe", "throttle_group"))

#: A source also takes every option of Spark's reader of the format, by its own name.
SOURCE = (
    Option(
        name="probe",
        type="a file below the location, or `none`",
        default="the location is listed",
        doc="The file that must exist for the source to count as healthy; `none`: no probe.",
        example="_READY",
    ),
    Option(
        name="check_lines",
        type="true or false",
        default="true",
        doc="json, jsonl: every line is checked to be one record; false is faster.",
        example="false",
    ),
    Option(
        name="header",
        type="true or false",
        default="true",
        doc="csv, tsv: the first line of each file names the columns.",
        example="false",
    ),
    Option(
        name="sep",
        type="text",
        default="`,` for csv, a tab for tsv",
        doc="csv, tsv: the separator between two fields. `delimiter` is the same.",
        example="';'",
    ),
    Option(
        name="encoding",
        type="text",
        default="UTF-8",
        doc="csv, tsv, json, jsonl, text: the character encoding. `charset` is the same.",
        example="ISO-8859-1",
    ),
    Option(
        name="inferSchema",
        type="true or false",
        default="false",
        doc="csv, tsv: types are inferred from the values; else every column is text.",
        example="true",
    ),
    Option(
        name="mode",
        type="`PERMISSIVE` or `FAILFAST`",
        default="PERMISSIVE: a record that cannot be parsed is quarantined",
        doc="FAILFAST: one record that cannot be parsed fails the stage.",
        example="FAILFAST",
    ),
    Option(
        name="multiLine",
        type="true or false",
        default="found from the file",
        doc="json: a file is one document instead of a record a line.",
        example="true",
    ),
    Option(
        name="throttle_group",
        type="a name",
        default="none",
        doc="The group that throttles with `entity_type` group may name in `entity_id`.",
        example="shared_cluster",
    ),
)
