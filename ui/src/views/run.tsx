// Run: a Gantt of its stages and steps, rows, verdicts, events and log lines.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { post, useAll, useGet, type Problem } from "../api";
import { Card, count, DatasetLink, duration, Empty, PipelineLink, Refusal, State, Tabs, text, Time, tone, useNow } from "../parts";
import { link, useQueryValue } from "../router";
import { StopButton } from "../stop";
import { Table } from "../table";
import type { AuditEvent, Run, RunDetail, StageRun } from "../types";
import { RunLink } from "../parts";

export function Runs() {
  const [status, setStatus] = useQueryValue("status");
  const runs = useGet<{ items: Run[] }>(`/runs?limit=500${status ? `&status=${status}` : ""}`, 15_000);
  return <>
    <div className="title"><h1>Runs</h1><span className="grow" /><select aria-label="Status" value={status} onChange={(event) => setStatus(event.target.value)}><option value="">every status</option>{["running", "succeeded", "failed", "stopped", "interrupted", "blocked"].map((name) => <option key={name}>{name}</option>)}</select></div>
    <Refusal problem={runs.error} />
    {runs.data && <Table name="runs" rows={runs.data.items} empty="No such runs. A pipeline's page has a button that requests one." columns={[
      { name: "run", value: (run) => run.run_id, show: (run) => <RunLink id={run.run_id} /> },
      { name: "pipeline", value: (run) => run.pipeline_id, show: (run) => <PipelineLink id={run.pipeline_id} /> },
      { name: "status", value: (run) => run.status, show: (run) => <State of={run.status} /> },
      { name: "started", value: (run) => run.started_at, show: (run) => <Time at={run.started_at} /> },
      { name: "took", value: (run) => duration(run.started_at, run.ended_at), right: true },
      { name: "asked by", value: (run) => run.asked_by },
      { name: "error", value: (run) => run.error_code },
    ]} />}
  </>;
}

export function RunPage({ id }: { id: string }) {
  const client = useQueryClient();
  const [tab, setTab] = useQueryValue("tab", "Timeline");
  const run = useGet<RunDetail>(`/runs/${id}`, 3000);
  const events = useAll<AuditEvent>(`/runs/${id}/events?limit=1000`, run.data?.status === "running" ? 3000 : undefined);
  const retry = useMutation<unknown, Problem, number | null>({ mutationFn: (stage) => post(`/runs/${id}/retry`, { from_stage: stage }), onSuccess: () => void client.invalidateQueries() });
  const now = useNow(run.data?.status === "running");
  if (!run.data) return <Refusal problem={run.error} />;
  const found = run.data;
  return <>
    <div className="title"><h1>Run of <PipelineLink id={found.pipeline_id} /></h1><State of={found.status} /><span className="grow" />
      {found.status === "running" ? <StopButton entity={`pipeline:${found.pipeline_id}`} /> : <button disabled={retry.isPending} onClick={() => retry.mutate(null)}>Run again</button>}
    </div>
    <p className="quiet"><span className="mono">{id}</span> · <Time at={found.started_at} /> · {duration(found.started_at, found.ended_at, now)} · asked by {found.asked_by ?? "nobody named"} · revision {found.catalog_revision} · {found.worker}</p>
    {found.error_message && <div className="refusal"><strong>{found.error_code}</strong> {found.error_message}</div>}
    {found.because && <p className="why">{found.because}</p>}
    {found.remedies.length > 0 && <ul className="remedies">{found.remedies.map((remedy) => <li key={remedy}>{remedy}</li>)}</ul>}
    <Refusal problem={retry.error} />
    {retry.isSuccess && <p className="done" role="status">Another run is requested.</p>}
    <Tabs names={["Timeline", "Checks", "Events", "Log"]} current={tab} choose={setTab} />
    {tab === "Timeline" && <>
      <Card title="Timeline"><Gantt run={found} events={events.data ?? []} now={now} /></Card>
      <Card title="Stages"><Table name={`stages of ${id}`} rows={found.stage_runs} empty="No stage has begun." columns={[
        { name: "#", value: (stage) => stage.stage_order, right: true },
        { name: "stage", value: (stage) => stage.stage_name },
        { name: "writes", value: (stage) => stage.target_id, show: (stage) => <DatasetLink id={stage.target_id} /> },
        { name: "attempt", value: (stage) => stage.attempt, right: true },
        { name: "status", value: (stage) => stage.status, show: (stage) => <State of={stage.status} /> },
        { name: "read", value: (stage) => stage.rows_read, show: (stage) => count(stage.rows_read), right: true },
        { name: "quarantined", value: (stage) => stage.rows_quarantined, show: (stage) => stage.rows_quarantined ? <a href={link(["datasets", stage.target_id], { tab: "Quarantine" })}>{count(stage.rows_quarantined)}</a> : count(stage.rows_quarantined), right: true },
        { name: "published", value: (stage) => stage.rows_written, show: (stage) => count(stage.rows_written), right: true },
        { name: "rows/s", value: rate, show: (stage) => count(rate(stage)), right: true },
        { name: "took", value: (stage) => duration(stage.started_at, stage.ended_at, now), right: true },
        { name: "why", value: (stage) => stage.error_message ?? stage.because, wide: true },
        { name: "again", value: () => "", show: (stage) => <button className="plain" onClick={() => retry.mutate(stage.stage_order)}>from here</button> },
      ]} /></Card>
    </>}
    {tab === "Checks" && <Card title="Checks"><Table name={`verdicts of ${id}`} rows={found.verdicts} empty="No check was evaluated in this run." columns={[
      { name: "verdict", value: (verdict) => verdict.passed ? "passed" : "failed", show: (verdict) => <State of={verdict.passed ? "passed" : "failed"} /> },
      { name: "dataset", value: (verdict) => verdict.dataset_id, show: (verdict) => <DatasetLink id={verdict.dataset_id} /> },
      { name: "check", value: (verdict) => verdict.check_name },
      { name: "settings", value: (verdict) => text(verdict.settings), wide: true },
      { name: "severity", value: (verdict) => verdict.severity },
      { name: "observed", value: (verdict) => verdict.observed, wide: true },
      { name: "on fail", value: (verdict) => verdict.on_fail },
    ]} /></Card>}
    {tab === "Events" && <Card title="Events"><EventTable events={events.data ?? []} /></Card>}
    {tab === "Log" && <Log id={id} />}
  </>;
}

export function EventTable({ events }: { events: AuditEvent[] }) {
  return <Table name="events" rows={events} empty="No events." columns={[
    { name: "event", value: (event) => event.event_id, right: true },
    { name: "at", value: (event) => event.at, show: (event) => <Time at={event.at} /> },
    { name: "kind", value: (event) => event.kind },
    { name: "pipeline", value: (event) => event.pipeline_id },
    { name: "stage", value: (event) => event.stage_order, right: true },
    { name: "run", value: (event) => event.run_id, show: (event) => event.run_id ? <RunLink id={event.run_id} label={event.run_id.slice(-8)} /> : "" },
    { name: "who", value: (event) => event.actor },
    { name: "facts", value: (event) => event.error_message ?? text(event.facts), wide: true },
  ]} />;
}

/** Rows published a second, of a stage that ended. */
function rate(stage: StageRun): number | null {
  if (stage.rows_written === null || !stage.ended_at) return null;
  const seconds = (Date.parse(stage.ended_at) - Date.parse(stage.started_at)) / 1000;
  return seconds > 0 ? Math.round(stage.rows_written / seconds) : null;
}

function Gantt({ run, events, now }: { run: RunDetail; events: AuditEvent[]; now: number }) {
  if (run.stage_runs.length === 0) return <Empty>No stage has begun.</Empty>;
  const start = Date.parse(run.started_at);
  const end = Math.max(run.ended_at ? Date.parse(run.ended_at) : now, start + 1);
  const at = (moment: string | null) => (((moment ? Date.parse(moment) : now) - start) / (end - start)) * 100;
  return <div className="gantt">
    {run.stage_runs.map((stage) => {
      const steps = events.filter((event) => event.stage_run_id === stage.stage_run_id && event.kind === "StageStepped");
      return <div key={stage.stage_run_id} className="bar-row">
        <span className="stage">{stage.stage_order} {stage.stage_name}{stage.attempt > 1 && ` (attempt ${stage.attempt})`}</span>
        <span className="track">
          <span className={`bar ${tone(stage.status)}`} style={{ left: `${at(stage.started_at)}%`, width: `max(3px, ${at(stage.ended_at) - at(stage.started_at)}%)` }} title={`${stage.status}, ${duration(stage.started_at, stage.ended_at, now)}`} />
          {steps.map((step) => <span key={step.event_id} className="tick" style={{ left: `${at(step.at)}%` }} title={`${text(step.facts.step)} at ${new Date(step.at).toLocaleTimeString()}`} />)}
        </span>
        <span className="right quiet">{stage.status === "running" ? stage.step ?? "begins" : duration(stage.started_at, stage.ended_at, now)}</span>
      </div>;
    })}
  </div>;
}

function Log({ id }: { id: string }) {
  const [marked] = useQueryValue("line");
  const lines = useGet<({ line: number; facts: object } & Record<string, unknown>)[]>(`/runs/${id}/logs`);
  return <Card title="Log"><Refusal problem={lines.error} />
    {lines.data?.length === 0 ? <Empty>The service's log file has no lines of this run: another machine may have run it.</Empty> :
      <ol className="log">{lines.data?.map((line) => <li key={line.line} className={String(line.line) === marked ? "marked" : ""} ref={(element) => { if (String(line.line) === marked) element?.scrollIntoView({ block: "center" }); }}>
        <a href={link(["runs", id], { tab: "Log", line: String(line.line) })} aria-label={`Link to line ${line.line}`}>{line.line}</a>
        <Time at={text(line.at)} /> <b>{text(line.level)}</b> {text(line.says)} <span className="quiet">{text(line.facts)}</span>
      </li>)}</ol>}
  </Card>;
}
