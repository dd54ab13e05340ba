"""A digest as text for people and as plain values for programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from goldsmith.digest.confidence import confidence
from goldsmith.digest.medallion import layers_of
from goldsmith.digest.suggested_rules import rules_of
from goldsmith.digest.values import ColumnEdge, Digest, StatementDigest

if TYPE_CHECKING:
    from goldsmith.digest.medallion import LayerGuess


def expression_text(edge: ColumnEdge) -> str | None:
    """The expression a column is made by, as SQL."""
    found: Any = edge.expression
    if found is None or isinstance(found, str):
        return found
    node, dialect = found
    return str(node.sql(dialect=dialect or None))


def mapping_texts(digest: Digest | StatementDigest) -> list[str]:
    """`event_ts→event_date`, as the statements map columns."""
    return [f"{root.column}→{edge.column}" for edge in digest.columns for root in edge.sources]


def lines_of(digest: Digest) -> Iterator[str]:
    """The answer for people."""
    yield _named("Upstream", digest.upstream)
    yield _named("Downstream", digest.downstream)
    mappings = mapping_texts(digest)
    yield f"Column-level mappings inferred: {', '.join(mappings) or 'none'}"
    for name, guess in layers_of(digest).items():
        yield f"Layer of {name}: {guess.layer} (stage {guess.order}): {guess.reason}"
    for statement in digest.statements:
        for rule in rules_of(statement):
            yield f"Suggested rule for {rule.dataset}: {dict(rule.check)} ({rule.clause})"
        for edge in statement.columns:
            for name, tables in edge.ambiguous:
                yield f"Ambiguous: {name} may belong to {', '.join(tables)}"
    yield from problems_of(digest)


def problems_of(digest: Digest) -> Iterator[str]:
    for statement in digest.statements:
        at = f"{statement.file or 'line'}{':' if statement.file else ' '}{statement.line}"
        if statement.error:
            yield f"Not read: {at}: {statement.error}"
        for note in statement.notes:
            yield f"Note: {at}: {note}"


def _named(what: str, names: list[str]) -> str:
    noun = "table" if len(names) == 1 and what == "Downstream" else "tables"
    return f"{what} {noun} detected: {', '.join(names) or 'none'}"


def summary(digest: Digest, queries: int) -> str:
    """`Parsed 3 queries → 4 datasets, 3 lineage edges`."""
    datasets, edges = len(digest.datasets()), len(digest.edges)
    return (
        f"Parsed {queries:,} {'query' if queries == 1 else 'queries'} → "
        f"{datasets:,} {'dataset' if datasets == 1 else 'datasets'}, "
        f"{edges:,} lineage {'edge' if edges == 1 else 'edges'}"
    )


def as_plain(digest: Digest) -> dict[str, Any]:
    """Everything a digest knows, as JSON values."""
    layers = layers_of(digest)
    return {
        "upstream": digest.upstream,
        "downstream": digest.downstream,
        "edges": [list(edge) for edge in digest.edges],
        "columns": [_column(edge) for edge in digest.columns],
        "layers": {name: _layer(guess) for name, guess in layers.items()},
        "statements": [_statement(statement) for statement in digest.statements],
    }


def _layer(guess: LayerGuess) -> dict[str, Any]:
    return {"layer": guess.layer, "order": guess.order, "reason": guess.reason}


def _column(edge: ColumnEdge) -> dict[str, Any]:
    return {
        "table": edge.table,
        "column": edge.column,
        "type": edge.type,
        "expression": expression_text(edge),
        "sources": [
            {"table": root.table, "column": root.column, "kind": kind.text}
            for root, kind in edge.sources.items()
        ],
        "ambiguous": [{"column": name, "candidates": list(t)} for name, t in edge.ambiguous],
    }


def _statement(statement: StatementDigest) -> dict[str, Any]:
    elided = "..." in statement.sql
    return {
        "verb": statement.verb,
        "file": statement.file,
        "line": statement.line,
        "upstream": statement.upstream,
        "downstream": statement.downstream,
        "mentioned": statement.mentioned,
        "write": statement.write,
        "structure_only": statement.structure_only,
        "uses": {
            kind: [{"table": root.table, "column": root.column} for root in roots]
            for kind, roots in statement.indirect.items()
        },
        "rules": [
            {"dataset": r.dataset, "check": dict(r.check), "clause": r.clause}
            for r in rules_of(statement)
        ],
        "evidence": statement.evidence.value,
        "confidence": confidence(statement.evidence, elided=elided),
        "notes": statement.notes,
        "error": statement.error,
    }
