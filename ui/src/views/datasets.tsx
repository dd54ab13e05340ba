// Datasets: the list, and one dataset with its columns, snapshots, checks, quarantine and sample.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { post, useAll, useGet, type Plain, type Problem } from "../api";
import { Card, count, DatasetLink, Empty, PipelineLink, Refusal, RunLink, State, Tabs, text, Time } from "../parts";
import { useQueryValue } from "../router";
import { Table } from "../table";
import type { StageRun, Verdict } from "../types";

interface Overview { dataset_id: string; kind: string; location: string; written_by: string[]; read_by: string[] }
interface Snapshot { snapshot: string; at: string; operation: string; added_rows: number | null; total_rows: number | null; stage_run_id: string | null }
interface Detail extends Overview { rows: number | null; bytes: number | null; files: number | null; columns: Record<string, string>; snapshots: Snapshot[]; last_runs: StageRun[] }
interface Freshness { dataset_id: string; last_update: string | null; hours_stale: number | null; may_be_hours: number | null; is_stale: boolean }
interface Quarantined { id: string; run_id: string; kept_at: string; source_file: string | null; checks: string[]; reasons: string[]; row: Plain | null; text: string | null }

const pipelineOf = (stage: string) => stage.slice(0, stage.lastIndexOf("-"));

export function Datasets() {
  const rows = useAll<Overview>("/datasets?limit=1000");
  const fresh = useGet<Freshness[]>("/datasets/freshness");
  const quarantine = useGet<{ dataset: string; rows: number }[]>("/quarantine");
  const age = new Map((fresh.data ?? []).map((row) => [row.dataset_id, row]));
  const broken = new Map((quarantine.data ?? []).map((row) => [row.dataset, row.rows]));
  return <><h1>Datasets</h1><Refusal problem={rows.error ?? fresh.error ?? quarantine.error} />
    {rows.data && <Table name="datasets" rows={rows.data} empty={<>No dataset yet. Write a catalog file and run <code>goldsmith apply</code>.</>} columns={[
      { name: "dataset", value: (row) => row.dataset_id, show: (row) => <DatasetLink id={row.dataset_id} /> },
      { name: "kind", value: (row) => row.kind },
      { name: "updated", value: (row) => age.get(row.dataset_id)?.last_update, show: (row) => <Time at={age.get(row.dataset_id)?.last_update} /> },
      { name: "fresh", value: (row) => age.get(row.dataset_id)?.is_stale ? "late" : age.has(row.dataset_id) ? "ok" : "", show: (row) => age.has(row.dataset_id) ? <State of={age.get(row.dataset_id)?.is_stale ? "late" : "ok"} /> : "" },
      { name: "quarantined", value: (row) => broken.get(row.dataset_id), show: (row) => count(broken.get(row.dataset_id)), right: true },
      { name: "written by", value: (row) => row.written_by.join(", ") },
      { name: "read by", value: (row) => row.read_by.join(", ") },
      { name: "location", value: (row) => row.location, wide: true },
    ]} />}</>;
}

export function Dataset({ id }: { id: string }) {
  const [tab, setTab] = useQueryValue("tab", "Columns");
  const path = `/datasets/${encodeURIComponent(id)}`;
  const detail = useGet<Detail>(path);
  const fresh = useGet<Freshness[]>("/datasets/freshness");
  const verdicts = useGet<Verdict[]>(tab === "Checks" ? `${path}/verdicts?limit=500` : null);
  const sample = useGet<Plain[]>(tab === "Sample" ? `${path}/sample?most=50` : null);
  const age = fresh.data?.find((row) => row.dataset_id === id);
  const found = detail.data;
  return <>
    <div className="title"><h1>{id}</h1>{age && <State of={age.is_stale ? "late" : "ok"} />}</div>
    <Refusal problem={detail.error} />
    {found && <dl className="facts">
      <dt>Location</dt><dd className="mono">{found.location}</dd>
      <dt>Rows</dt><dd>{count(found.rows)} in {count(found.files)} files, {count(found.bytes)} bytes</dd>
      <dt>Written by</dt><dd>{found.written_by.map((stage) => <span key={stage}><PipelineLink id={pipelineOf(stage)} /> ({stage}) </span>)}</dd>
      <dt>Read by</dt><dd>{found.read_by.map((stage) => <span key={stage}><PipelineLink id={pipelineOf(stage)} /> ({stage}) </span>)}{found.read_by.length === 0 && "nothing"}</dd>
      {age && <><dt>Freshness</dt><dd>updated <Time at={age.last_update} />; may be {age.may_be_hours ?? "any number of"} h old</dd></>}
    </dl>}
    <Tabs names={["Columns", "Snapshots", "Checks", "Quarantine", "Sample"]} current={tab} choose={setTab} />
    {tab === "Columns" && found && <Card title="Columns"><Table name={`columns of ${id}`} rows={Object.entries(found.columns ?? {})} empty="No columns are known: nothing was published yet." columns={[{ name: "column", value: (pair) => pair[0] }, { name: "type", value: (pair) => pair[1] }]} /></Card>}
    {tab === "Snapshots" && found && <Card title="Snapshots"><p className="quiet"><code>goldsmith restore {id} --snapshot ID</code> makes a snapshot the current one again.</p><Table name={`snapshots of ${id}`} rows={found.snapshots ?? []} empty="No snapshots: nothing was published yet, or this is no lake table." columns={[
      { name: "snapshot", value: (row) => row.snapshot, show: (row) => <span className="mono">{row.snapshot}</span> },
      { name: "at", value: (row) => row.at, show: (row) => <Time at={row.at} /> }, { name: "operation", value: (row) => row.operation },
      { name: "added", value: (row) => row.added_rows, show: (row) => count(row.added_rows), right: true }, { name: "total", value: (row) => row.total_rows, show: (row) => count(row.total_rows), right: true }, { name: "stage run", value: (row) => row.stage_run_id },
    ]} /></Card>}
    {tab === "Checks" && <Card title="Checks over time"><Refusal problem={verdicts.error} /><Table name={`verdicts of ${id}`} rows={verdicts.data ?? []} empty="No check was evaluated on this dataset. Give its stage a validation_set_id." columns={[
      { name: "at", value: (row) => row.at, show: (row) => <Time at={row.at} /> }, { name: "verdict", value: (row) => row.passed ? "passed" : "failed", show: (row) => <State of={row.passed ? "passed" : "failed"} /> },
      { name: "check", value: (row) => row.check_name }, { name: "settings", value: (row) => text(row.settings), wide: true }, { name: "broken", value: (row) => row.broken, show: (row) => count(row.broken), right: true },
      { name: "observed", value: (row) => row.observed, wide: true }, { name: "run", value: (row) => row.run_id, show: (row) => <RunLink id={row.run_id} label={row.run_id.slice(-8)} /> },
    ]} /></Card>}
    {tab === "Quarantine" && <Quarantine id={id} />}
    {tab === "Sample" && <Card title="Sample"><Refusal problem={sample.error} />{sample.data && <Table name={`sample of ${id}`} rows={sample.data} empty="No rows were published yet." columns={Object.keys(sample.data[0] ?? {}).map((name) => ({ name, value: (row: Plain) => row[name] }))} />}</Card>}
  </>;
}

function Quarantine({ id }: { id: string }) {
  const client = useQueryClient();
  const [sql, setSql] = useState("");
  const path = `/quarantine/${encodeURIComponent(id)}`;
  const rows = useGet<Quarantined[]>(`${path}?most=500`);
  const replay = useMutation<{ requested: boolean; because?: string; request_id?: string }, Problem>({ mutationFn: () => post(`${path}/replay`, { sql: sql.trim() || null }), onSuccess: () => void client.invalidateQueries() });
  return <Card title="Quarantined rows"><Refusal problem={rows.error} />
    {rows.data?.length === 0 ? <Empty>No row of this dataset is quarantined.</Empty> : rows.data && <>
      <Table name={`quarantined rows of ${id}`} rows={rows.data} empty="" columns={[
        { name: "quarantined", value: (row) => row.kept_at, show: (row) => <Time at={row.kept_at} /> }, { name: "check", value: (row) => row.checks.join(", ") }, { name: "why", value: (row) => row.reasons.join("; "), wide: true },
        { name: "row", value: (row) => row.text ?? text(row.row), wide: true, show: (row) => <code className="clip">{row.text ?? text(row.row)}</code> }, { name: "file", value: (row) => row.source_file, wide: true }, { name: "run", value: (row) => row.run_id, show: (row) => <RunLink id={row.run_id} label={row.run_id.slice(-8)} /> },
      ]} />
      <form onSubmit={(event) => { event.preventDefault(); replay.mutate(); }}>
        <label>SQL that corrects the rows (empty: as they are). It selects from <code>quarantined</code> and keeps <code>_id</code>.<textarea rows={3} className="mono" value={sql} onChange={(event) => setSql(event.target.value)} /></label>
        <button className="main" disabled={replay.isPending}>Replay {rows.data.length} rows</button>
      </form></>}
    <Refusal problem={replay.error} />
    {replay.data && <p className="done" role="status">{replay.data.requested ? `The replay is requested (${replay.data.request_id}).` : `Nothing to replay: ${replay.data.because}`}</p>}
  </Card>;
}
