// Now: what runs, waits, failed, is stopped or late, and the last runs of each pipeline.
import { useAll, useGet } from "../api";
import { Card, duration, Empty, PipelineLink, Refusal, RunLink, State, Time, tone, useNow } from "../parts";
import { link } from "../router";
import { StopList, useStops } from "../stop";
import { Table } from "../table";
import type { Incident, Run } from "../types";

interface Freshness { dataset_id: string; pipeline_id: string; last_update: string | null; hours_stale: number | null; may_be_hours: number | null; is_stale: boolean }
interface Waiting { request_id: string; pipelines: string[]; selection: string[]; because: string | null; asked_by: string | null; asked_at: string }
export interface PipelineRow { pipeline_id: string; description: string | null; enabled: boolean; owner: string | null; schedule: string | null; criticality: string | null; impact: string; tags: string[]; sla_minutes: number | null }

export function Dots({ runs }: { runs: Run[] }) {
  if (runs.length === 0) return <span className="quiet">never ran</span>;
  return <span className="dots">{[...runs].reverse().map((run) => (
    <a key={run.run_id} className={`dot ${tone(run.status)}`} href={link(["runs", run.run_id])} aria-label={`Run ${run.run_id}: ${run.status}`} title={`${run.status}, ${new Date(run.started_at).toLocaleString()}`} />
  ))}</span>;
}

function Count({ name, value, kind, href }: { name: string; value: number | undefined; kind: string; href: string }) {
  return <a className={`count ${value ? kind : ""}`} href={href}><b>{value ?? "–"}</b><span>{name}</span></a>;
}

export default function Now() {
  const runs = useGet<{ items: Run[] }>("/runs?limit=300", 15_000);
  const waiting = useGet<Waiting[]>("/requests?status=waiting", 15_000);
  const incidents = useGet<Incident[]>("/incidents", 30_000);
  const fresh = useGet<Freshness[]>("/datasets/freshness", 30_000);
  const pipelines = useAll<PipelineRow>("/catalog/tables/pipelines?limit=1000");
  const stops = useStops();
  const all = runs.data?.items ?? [];
  const running = all.filter((run) => run.status === "running");
  const now = useNow(running.length > 0);
  const byPipeline = Map.groupBy ? Map.groupBy(all, (run) => run.pipeline_id) : group(all);
  const failed = [...byPipeline.values()].flatMap((list) => (list[0]?.status === "failed" ? [list[0]] : []));
  const late = (fresh.data ?? []).filter((dataset) => dataset.is_stale);
  return <>
    <h1>Now</h1>
    <Refusal problem={runs.error ?? waiting.error ?? fresh.error ?? pipelines.error ?? incidents.error} />
    <nav className="counts" aria-label="Counts">
      <Count name="running" value={runs.data && running.length} kind="live" href={link(["runs"], { status: "running" })} />
      <Count name="waiting" value={waiting.data?.length} kind="wait" href={link(["control"])} />
      <Count name="failed last" value={runs.data && failed.length} kind="bad" href={link(["runs"], { status: "failed" })} />
      <Count name="stopped" value={stops.data?.length} kind="held" href={link(["control"])} />
      <Count name="late" value={fresh.data && late.length} kind="wait" href={link(["datasets"])} />
      <Count name="incidents" value={incidents.data?.length} kind="bad" href={link(["incidents"])} />
    </nav>
    <div className="columns">
      <Card title="Running">
        {running.length === 0 ? <Empty>Nothing runs. A pipeline's page has a button that requests a run.</Empty> :
          <ul className="lines">{running.map((run) => <li key={run.run_id}><State of="running" /><PipelineLink id={run.pipeline_id} /><RunLink id={run.run_id} label={duration(run.started_at, null, now)} /><span className="quiet">{run.asked_by}</span></li>)}</ul>}
      </Card>
      <Card title="Waiting">
        {!waiting.data?.length ? <Empty>No request waits.</Empty> :
          <ul className="lines">{waiting.data.slice(0, 12).map((request) => <li key={request.request_id}><b>{(request.pipelines.length ? request.pipelines : request.selection).join(", ")}</b><span>{request.because ?? "for a worker"}</span><Time at={request.asked_at} /></li>)}</ul>}
      </Card>
      {failed.length > 0 && <Card title="Failed last">
        <ul className="lines">{failed.map((run) => <li key={run.run_id}><State of="failed" /><PipelineLink id={run.pipeline_id} /><RunLink id={run.run_id} label={run.error_code ?? "run"} /><span className="clip" title={run.error_message ?? ""}>{run.error_message}</span></li>)}</ul>
      </Card>}
      {!!stops.data?.length && <Card title="Stopped"><StopList flags={stops.data} /></Card>}
      {late.length > 0 && <Card title="Late">
        <ul className="lines">{late.slice(0, 12).map((dataset) => <li key={dataset.dataset_id}><a href={link(["datasets", dataset.dataset_id])}>{dataset.dataset_id}</a><span>{dataset.hours_stale === null ? "never updated" : `${dataset.hours_stale.toFixed(1)} h old, may be ${dataset.may_be_hours} h`}</span></li>)}</ul>
      </Card>}
      {!!incidents.data?.length && <Card title="Incidents">
        <ul className="lines">{incidents.data.slice(0, 8).map((incident) => <li key={incident.incident_id}><State of={incident.severity} /><a href={link(["incidents", incident.incident_id])}>{incident.pipeline_id ?? incident.incident_id}</a><span>{String(incident.error_code ?? "")}</span><Time at={incident.opened_at} /></li>)}</ul>
      </Card>}
    </div>
    <Card title="Pipelines">
      <Table name="pipelines" rows={pipelines.data ?? []} empty={<>No pipeline yet. Write a catalog file and run <code>goldsmith apply</code>.</>} columns={[
        { name: "pipeline", value: (row) => row.pipeline_id, show: (row) => <PipelineLink id={row.pipeline_id} /> },
        { name: "last runs", value: (row) => byPipeline.get(row.pipeline_id)?.[0]?.status, show: (row) => <Dots runs={(byPipeline.get(row.pipeline_id) ?? []).slice(0, 20)} /> },
        { name: "last", value: (row) => byPipeline.get(row.pipeline_id)?.[0]?.started_at, show: (row) => <Time at={byPipeline.get(row.pipeline_id)?.[0]?.started_at} /> },
        { name: "schedule", value: (row) => row.schedule ?? "on request" },
        { name: "owner", value: (row) => row.owner },
        { name: "description", value: (row) => row.description, wide: true },
      ]} />
    </Card>
  </>;
}

/** Browsers before 2024 have no Map.groupBy. */
function group(runs: Run[]): Map<string, Run[]> {
  const found = new Map<string, Run[]>();
  for (const run of runs) found.set(run.pipeline_id, [...(found.get(run.pipeline_id) ?? []), run]);
  return found;
}
