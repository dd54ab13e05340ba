// Lineage: one hop each side of a dataset, more on a click, health on each, and its impact beside it.
import { useState } from "react";
import { useAll, useGet } from "../api";
import { Card, DatasetLink, Empty, Refusal, State } from "../parts";
import { link } from "../router";
import { Table } from "../table";

interface Near { dataset_id: string; distance: number; layer: string | null }
interface Health { dataset_id: string; status: string; because: string | null }
interface Impact { dataset_id: string; outcome: "lost" | "other_way"; position: number }
interface Way { path_sequence: string; cost: number; healthy: boolean; because: string | null; runs: boolean }
interface Ways { count: number; paths: Way[] }

type Side = "up" | "down";
type Known = Map<string, Health>;

const at = (id: string) => `/lineage/${encodeURIComponent(id)}`;

export function LineageStart() {
  const spots = useGet<{ dataset_id: string; dependants: number; value: number; lost_without: number }[]>("/lineage/hotspots?most=100");
  return <><h1>Lineage</h1><Refusal problem={spots.error} />
    <p className="quiet">The datasets that most depends on. Choose one, or find any other with Search.</p>
    {spots.data && <Table name="hotspots" rows={spots.data} empty={<>No dataset feeds another yet. Write stages into a catalog file and run <code>goldsmith apply</code>.</>} columns={[
      { name: "dataset", value: (row) => row.dataset_id, show: (row) => <a href={link(["lineage", row.dataset_id])}>{row.dataset_id}</a> },
      { name: "dependants", value: (row) => row.dependants, right: true },
      { name: "value", value: (row) => row.value, right: true },
      { name: "lost without it", value: (row) => row.lost_without, right: true },
    ]} />}</>;
}

export function Lineage({ id }: { id: string }) {
  const health = useAll<Health>("/datasets/health?limit=1000", 10_000);
  const impact = useAll<Impact>(`${at(id)}/impact?limit=1000`);
  const ways = useGet<Ways>(`/datasets/${encodeURIComponent(id)}/paths?most=10`);
  const known: Known = new Map((health.data ?? []).map((row) => [row.dataset_id, row]));
  return <>
    <div className="title"><h1>{id}</h1><HealthOf id={id} known={known} /><DatasetLink id={id} /></div>
    <Refusal problem={health.error ?? impact.error ?? ways.error} />
    <div className="columns">
      <Card title="What feeds it"><Neighbours id={id} side="up" known={known} above={[id]} /></Card>
      <Card title="What it feeds"><Neighbours id={id} side="down" known={known} above={[id]} /></Card>
    </div>
    <Card title="Without it">{impact.data && <Table name={`impact of ${id}`} rows={impact.data} empty="Nothing is lost: no dataset is made of it." columns={[
      { name: "dataset", value: (row) => row.dataset_id, show: (row) => <a href={link(["lineage", row.dataset_id])}>{row.dataset_id}</a> },
      { name: "outcome", value: (row) => row.outcome === "lost" ? "lost" : "another way makes it" },
    ]} />}</Card>
    <Card title={ways.data ? `Ways to obtain it: ${ways.data.count}` : "Ways to obtain it"}>{ways.data && <Table name={`ways to ${id}`} rows={ways.data.paths} empty="No way leads to it: it is where data comes in." columns={[
      { name: "way", value: (row) => row.path_sequence.split(",").join(" → "), wide: true },
      { name: "cost", value: (row) => row.cost, right: true },
      { name: "health", value: (row) => row.healthy ? "ok" : "down", show: (row) => <State of={row.healthy ? "ok" : "down"} /> },
      { name: "why", value: (row) => row.because ?? (row.runs ? "" : "nothing runs it"), wide: true },
    ]} />}</Card>
  </>;
}

function HealthOf({ id, known }: { id: string; known: Known }) {
  const found = known.get(id);
  return found ? <span title={found.because ?? undefined}><State of={found.status} /></span> : null;
}

/** One hop; each dataset opens its own next hop on a click. */
function Neighbours({ id, side, known, above }: { id: string; side: Side; known: Known; above: string[] }) {
  const near = useAll<Near>(`${at(id)}/${side}?depth=1&limit=1000`);
  if (near.error) return <Refusal problem={near.error} />;
  if (near.data?.length === 0) return <Empty>{side === "up" ? "Nothing feeds it." : "It feeds nothing."}</Empty>;
  return <ul className="hops">{(near.data ?? []).map((row) => <Hop key={row.dataset_id} row={row} side={side} known={known} above={above} />)}</ul>;
}

function Hop({ row, side, known, above }: { row: Near; side: Side; known: Known; above: string[] }) {
  const [open, setOpen] = useState(false);
  const id = row.dataset_id;
  const circle = above.includes(id);
  return <li>
    {!circle && <button className="plain" aria-expanded={open} aria-label={`${open ? "Close" : "Open"} ${id}`} onClick={() => setOpen(!open)}>{open ? "−" : "+"}</button>}
    {" "}<a href={link(["lineage", id])}>{id}</a> <span className="quiet">{row.layer}{circle && ", a cycle"}</span> <HealthOf id={id} known={known} />
    {open && <Neighbours id={id} side={side} known={known} above={[...above, id]} />}
  </li>;
}
