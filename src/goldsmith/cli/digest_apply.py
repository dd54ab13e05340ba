"""`digest --apply`: show the catalog rows a digest adds, ask, and add them in one transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from goldsmith.cli.apply import print_proposal
from goldsmith.cli.output import CliContext, confirm, echo, print_json, whoami

if TYPE_CHECKING:
    from goldsmith.digest.values import Digest


def apply_digest(
    cli: CliContext,
    found: Digest,
    pipeline: str | None,
    dialect: str,
    *,
    reason: str | None,
    yes: bool,
    as_json: bool,
) -> None:
    """Write the rows of a digest; the rows that are there already stay."""
    from goldsmith.catalog.bundle import Bundle
    from goldsmith.planning import apply_files
    from goldsmith.planning.planner import CatalogHasErrors

    if not pipeline:
        raise click.UsageError("--apply needs --pipeline: the pipeline that gets the stages.")
    from goldsmith.digest.catalog_rows import rows_of

    indexer = cli.runtime.catalog_indexer
    by_kind: dict[Any, dict[Any, Any]] = {}
    for row in rows_of(found, catalog_view(cli), pipeline, dialect):
        by_kind.setdefault(type(row), {})[row.key] = row
    bundle = Bundle(rows=by_kind)
    proposal = apply_files.propose(indexer, bundle)
    if not as_json:
        print_proposal(proposal, with_errors=False)
    if proposal.errors:
        raise CatalogHasErrors(findings=proposal.errors)
    if not proposal.difference:
        if as_json:
            print_json({**proposal.as_plain(), "applied": False})
        return
    if not confirm("Apply this?", yes=yes):
        echo("Nothing was changed.")
        raise click.exceptions.Exit(1)
    revision, _done = apply_files.apply(
        indexer, bundle, proposal, actor=whoami(), reason=reason or "digest", as_shown=not yes
    )
    if as_json:
        print_json({**proposal.as_plain(), "revision": revision, "applied": True})
    else:
        echo(f"Applied as revision {revision}. `goldsmith catalog undo {revision}` takes it back.")


def catalog_view(cli: CliContext) -> Any:
    """The rows of the catalog that decide what a digest adds."""
    from goldsmith.catalog.conventions import Convention
    from goldsmith.catalog.datasets import Source, Target
    from goldsmith.catalog.edges import Edge
    from goldsmith.catalog.pipelines import Pipeline, Stage
    from goldsmith.catalog.rules import RuleSet
    from goldsmith.digest.catalog_rows import CatalogView

    rows = cli.runtime.catalog_indexer.catalog_index().rows
    return CatalogView(
        sources=frozenset(row.source_id for row in rows.rows(Source)),
        targets=frozenset(row.target_id for row in rows.rows(Target)),
        pipelines=frozenset(row.pipeline_id for row in rows.rows(Pipeline)),
        stages=tuple(rows.rows(Stage)),
        edges=tuple(rows.rows(Edge)),
        rule_sets=frozenset(row.rule_set_id for row in rows.rows(RuleSet)),
        conventions={row.layer: row for row in rows.rows(Convention)},
    )
