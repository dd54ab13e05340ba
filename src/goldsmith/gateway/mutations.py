"""GraphQL mutations: custom lineage, deletion of pushed tables, new keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from goldsmith.errors import GoldsmithError
from goldsmith.gateway import keys, lineage_graph
from goldsmith.gateway.lineage_answers import node_shown
from goldsmith.gateway.mcon import Mcon
from goldsmith.gateway.queries import FOR_EVER, Asker
from goldsmith.gateway.store import storable
from goldsmith.journal.gateway_tables import KeyScope


@dataclass(eq=False, kw_only=True)
class KeyScopeNotKnown(GoldsmithError):
    """The gateway makes no keys of this scope."""

    scope: str

    def __str__(self) -> str:
        return f"The gateway makes no keys of the scope {self.scope}."

    @property
    def hint(self) -> str:
        return "It makes Ingestion keys; a key for GraphQL: `goldsmith gateway create-key`."


def _mcon(asker: Asker, node: Mapping[str, Any]) -> Mcon:
    resource = lineage_graph.resource_of(node.get("resourceId"), node.get("resourceName"))
    asker.check(resource)
    return Mcon(resource, node["objectType"], node["objectId"])


def create_node(
    asker: Asker,
    object_type: str,
    object_id: str,
    resource_id: str | None = None,
    resource_name: str | None = None,
    name: str | None = None,
    properties: Sequence[Mapping[str, str]] | None = None,
    expire_at: datetime | None = None,
) -> dict[str, Any]:
    """Make or change a custom node."""
    node = {"objectType": object_type, "objectId": object_id}
    node |= {"resourceId": resource_id or "", "resourceName": resource_name or ""}
    named = {each["propertyName"]: each["propertyValue"] for each in properties or ()}
    with asker.journal.writing() as connection:
        made = lineage_graph.put_node(
            connection,
            _mcon(asker, storable(node)),
            name=storable(name),
            properties=storable(named),
            expire_at=expire_at,
        )
    return {"node": node_shown(made)}


def create_edge(
    asker: Asker,
    source: Mapping[str, Any],
    destination: Mapping[str, Any],
    edge_type: str | None = None,
    expire_at: datetime | None = None,
) -> dict[str, Any]:
    """Make or change a custom edge."""
    with asker.journal.writing() as connection:
        start, end, edge = lineage_graph.put_edge(
            connection,
            _mcon(asker, storable(source)),
            _mcon(asker, storable(destination)),
            edge_type=edge_type or "IS_DOWNSTREAM",
            expire_at=expire_at,
        )
    return {
        "edge": {
            "source": node_shown(start),
            "destination": node_shown(end),
            "jobTs": edge.seen_at,
            "expireAt": edge.expires_at or FOR_EVER,
            "isCustom": True,
        }
    }


def delete_node(asker: Asker, mcon: str) -> dict[str, Any]:
    """Delete a node and its edges."""
    nodes, edges = lineage_graph.delete_node(asker.journal, str(asker.parsed(mcon)))
    return {"objectsDeleted": nodes, "nodesDeleted": nodes, "edgesDeleted": edges}


def delete_tables(asker: Asker, mcons: Sequence[str]) -> dict[str, Any]:
    """Delete pushed tables, all or none."""
    parsed = [str(asker.parsed(mcon)) for mcon in mcons]
    return {"success": True, "deletedCount": lineage_graph.delete_tables(asker.journal, parsed)}


def create_key(
    asker: Asker,
    description: str,
    scope: str,
    warehouse_ids: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Make an Ingestion key; a limited key makes keys with the same limit or a narrower one."""
    if scope != "Ingestion":
        raise KeyScopeNotKnown(scope=scope)
    resources = list(warehouse_ids or asker.key.resources)
    for resource in resources:
        asker.check(resource)
    row, secret = keys.create(
        asker.journal,
        KeyScope.INGESTION,
        description=description,
        created_by=str(asker.key.created_by),
        resources=resources,
    )
    return {"key": {"id": row.key_id, "secret": secret}}


RESOLVERS: Mapping[str, Callable[..., Any]] = {
    "createOrUpdateLineageNode": create_node,
    "createOrUpdateLineageEdge": create_edge,
    "deleteLineageNode": delete_node,
    "deletePushIngestedTables": delete_tables,
    "createIntegrationKey": create_key,
}
