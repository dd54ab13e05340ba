// Pipelines: the list, and one pipeline with its grid of stages and runs, its rows and their history.
import { useMutation, useQueries, useQueryClient } from "@tanstack/react-query";
import { get, post, useAll, useGet, type Problem } from "../api";
import { Card, count, DatasetLink, duration, Empty, PipelineLink, Refusal, RunLink, State, Tabs, Time, tone } from "../parts";
import { link, useQueryValue } from "../router";
import { Changes, RowForm } from "../rowform";
import { entityOf, ReleaseButton, StopButton, useStops } from "../stop";
import { Table } from "../table";
import type { Change, Plan, Run, RunDetail } from "../types";
import { Dots, type PipelineRow } from "./now";

export function Pipelines() {
  const rows = useAll<PipelineRow>("/catalog/tables/pipelines?limit=1000");
  const stops = useStops();
  const stopped = new Set((stops.data ?? []).filter((flag) => flag.entity_type === "pipeline").map((flag) => flag.entity_id));
  return <>
    <h1>Pipelines</h1>
    <Refusal problem={rows.error} />
    {rows.data && <Table name="pipelines" rows={rows.data} empty={<>No pipeline yet. Write a catalog file and run <code>goldsmith apply</code>.</>} columns={[
      { name: "pipeline", value: (row) => row.pipeline_id, show: (row) => <PipelineLink id={row.pipeline_id} /> },
      { name: "state", value: (row) => (row.enabled && !stopped.has(row.pipeline_id) ? "enabled" : "stopped"), show: (row) => <State of={row.enabled && !stopped.has(row.pipeline_id) ? "enabled" : "stopped"} /> },
      { name: "owner", value: (row) => row.owner },
      { name: "schedule", value: (row) => row.schedule ?? "on request" },
      { name: "impact", value: (row) => row.impact },
      { name: "SLA, min", value: (row) => row.sla_minutes, right: true },
      { name: "tags", value: (row) => row.tags.join(", ") },
      { name: "description", value: (row) => row.description, wide: true },
    ]} />}
  </>;
}

export function Pipeline({ id }: { id: string }) {
  const client = useQueryClient();
  const [tab, setTab] = useQueryValue("tab", "Runs");
  const [chosen, setChosen] = useQueryValue("row");
  const runs = useGet<{ items: Run[] }>(`/runs?limit=20&pipeline=${encodeURIComponent(id)}`, 15_000);
  const plan = useGet<Plan>(`/plan?selection=${encodeURIComponent(id)}`);
  const why = useGet<{ state: string; because: string }>(`/why?entity=${encodeURIComponent(`pipeline:${id}`)}`, 15_000);
  const history = useGet<{ items: Change[] }>(tab === "History" ? "/catalog/history?limit=500" : null);
  const stops = useStops();
  const request = useMutation<unknown, Problem>({ mutationFn: () => post("/requests", { selection: [id] }), onSuccess: () => void client.invalidateQueries() });
  const stop = stops.data?.find((flag) => flag.entity_type === "everything" || (flag.entity_type === "pipeline" && flag.entity_id === id));
  const stages = plan.data?.stages ?? [];
  const tables: Record<string, string> = { [`pipelines:${id}`]: id };
  for (const stage of stages) {
    tables[`stages:${id}/${stage.stage_order}`] = stage.stage_name;
    for (const input of stage.inputs) if (!stages.some((other) => other.target.dataset_id === input.dataset_id)) tables[`sources:${input.dataset_id}`] = input.dataset_id;
    tables[`targets:${stage.target.dataset_id}`] = stage.target.dataset_id;
  }
  const [table = "pipelines", ...rest] = (chosen || `pipelines:${id}`).split(":");
  return <>
    <div className="title"><h1>{id}</h1>{why.data && <State of={why.data.state} />}<span className="grow" />
      <button className="main" disabled={request.isPending} onClick={() => request.mutate()}>Run now</button>
      {stop ? <ReleaseButton entity={entityOf(stop)} /> : <StopButton entity={`pipeline:${id}`} />}
    </div>
    <p className="why">{why.data?.because}</p>
    <Refusal problem={request.error ?? plan.error ?? runs.error} />
    <Tabs names={["Runs", "Stages", "Rows", "History"]} current={tab} choose={setTab} />
    {tab === "Runs" && <Card title="Stages × runs" aside={<Dots runs={runs.data?.items ?? []} />}>
      {runs.data?.items.length === 0 ? <Empty>This pipeline never ran. Press Run now.</Empty> : <Grid runs={runs.data?.items ?? []} stages={stages.map((stage) => ({ order: stage.stage_order, name: stage.stage_name }))} />}
      <Table name={`runs of ${id}`} rows={runs.data?.items ?? []} empty="No runs." columns={[
        { name: "run", value: (run) => run.run_id, show: (run) => <RunLink id={run.run_id} /> },
        { name: "status", value: (run) => run.status, show: (run) => <State of={run.status} /> },
        { name: "started", value: (run) => run.started_at, show: (run) => <Time at={run.started_at} /> },
        { name: "took", value: (run) => duration(run.started_at, run.ended_at), right: true },
        { name: "asked by", value: (run) => run.asked_by },
        { name: "error", value: (run) => run.error_code },
      ]} />
    </Card>}
    {tab === "Stages" && <Card title="Stages and what would run"><Table name={`stages of ${id}`} rows={stages} empty="No stages: add rows to the table stages." columns={[
      { name: "#", value: (stage) => stage.stage_order, right: true },
      { name: "stage", value: (stage) => stage.stage_name },
      { name: "layer", value: (stage) => stage.layer },
      { name: "reads", value: (stage) => stage.inputs.map((input) => input.dataset_id).join(", "), show: (stage) => <>{stage.inputs.map((input) => <div key={input.dataset_id}><DatasetLink id={input.dataset_id} /></div>)}</> },
      { name: "writes", value: (stage) => stage.target.dataset_id, show: (stage) => <DatasetLink id={stage.target.dataset_id} /> },
      { name: "mode", value: (stage) => stage.write_mode },
      { name: "checks", value: (stage) => stage.checks.length, right: true },
      { name: "would", value: (stage) => `${stage.fate}: ${stage.because}`, wide: true },
      { name: "control", value: () => "", show: (stage) => <StopButton entity={`stage:${stage.stage_id}`} /> },
    ]} /></Card>}
    {tab === "Rows" && <Card title="Rows" aside={<select aria-label="Row" value={`${table}:${rest.join(":")}`} onChange={(event) => setChosen(event.target.value)}>{Object.entries(tables).map(([key, name]) => <option key={key} value={key}>{key.split(":")[0]}: {name}</option>)}</select>}>
      <RowForm key={chosen} table={table} rowKey={rest.join(":")} />
    </Card>}
    {tab === "History" && <Card title="History"><Changes changes={(history.data?.items ?? []).filter((change) => change.key[0] === id || `${change.table}:${change.key.join("/")}` in tables)} /></Card>}
  </>;
}

function Grid({ runs, stages }: { runs: Run[]; stages: { order: number; name: string }[] }) {
  const shown = runs.slice(0, 12).reverse();
  const details = useQueries({ queries: shown.map((run) => ({ queryKey: [`/runs/${run.run_id}`], queryFn: () => get<RunDetail>(`/runs/${run.run_id}`) })) });
  return <div className="grid" style={{ gridTemplateColumns: `minmax(7rem, max-content) repeat(${shown.length}, minmax(1rem, 2.4rem))` }}>
    {stages.map((stage) => [
      <span key={stage.order} className="stage">{stage.order} {stage.name}</span>,
      ...shown.map((run, index) => {
        const attempt = details[index]?.data?.stage_runs.filter((found) => found.stage_order === stage.order).at(-1);
        const says = attempt ? `${attempt.status}; ${duration(attempt.started_at, attempt.ended_at)}; ${count(attempt.rows_written)} rows${attempt.error_code ? `; ${attempt.error_code}` : ""}` : "not run";
        return <a key={run.run_id + stage.order} className={`cell ${tone(attempt?.status ?? "")}`} href={link(["runs", run.run_id], { stage: String(stage.order) })} title={says} aria-label={`${stage.name}, run ${run.run_id}: ${says}`} />;
      }),
    ])}
  </div>;
}
