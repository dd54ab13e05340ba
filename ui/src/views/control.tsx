// Control: stop and release anything, the queue and why it waits, profiles.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call, useAll, useGet, type Plain, type Problem } from "../api";
import { Card, Empty, PipelineLink, Refusal, Time } from "../parts";
import { StopButton, StopList, useStops } from "../stop";
import { Table } from "../table";

interface Entry { position: number; request_id: string; pipeline: string; profile: string; score: number; terms: { name: string; value: number; because: string }[]; because: string; expected_start: number | null }
interface Throttle { throttle_id: string; entity_type: string | null; entity_id: string | null; threshold: number | null; unit: string | null; in_effect: number; rate: number; waiting: unknown[]; refused_because: string | null; problem: string | null }
interface Waiting { request_id: string; pipelines: string[]; selection: string[]; because: string | null; asked_by: string | null; asked_at: string; due_at: string | null; attempt: number; status: string }

export default function Control() {
  const client = useQueryClient();
  const stops = useStops();
  const waiting = useGet<Waiting[]>("/requests?status=waiting", 5000);
  const running = useGet<Waiting[]>("/requests?status=running", 5000);
  const queue = useAll<Entry>("/queue?limit=1000", 5000);
  const throttles = useAll<Throttle>("/throttles?limit=1000", 5000);
  const pipelines = useAll<{ pipeline_id: string }>("/catalog/tables/pipelines?limit=1000");
  const datasets = useAll<{ dataset_id: string; written_by: string[] }>("/datasets?limit=1000");
  const settings = useAll<Plain>("/catalog/tables/profile_settings?limit=1000");
  const [entity, setEntity] = useState("");
  const cancel = useMutation<unknown, Problem, string>({ mutationFn: (id) => call("DELETE", `/requests/${id}`), onSuccess: () => void client.invalidateQueries() });
  return <>
    <h1>Control</h1>
    <Card title="Stopped now" aside={<StopButton entity="everything" label="Stop everything" />}>
      <Refusal problem={stops.error} />
      {stops.data?.length ? <StopList flags={stops.data} /> : <Empty>Nothing is stopped.</Empty>}
      <form className="inline" onSubmit={(event) => event.preventDefault()}>
        <label>Stop a pipeline, source or target<select value={entity} onChange={(event) => setEntity(event.target.value)}><option value="">choose</option>
          {(pipelines.data ?? []).map((row) => <option key={row.pipeline_id} value={`pipeline:${row.pipeline_id}`}>pipeline:{row.pipeline_id}</option>)}
          {(datasets.data ?? []).map((row) => <option key={row.dataset_id} value={`${row.written_by.length ? "target" : "source"}:${row.dataset_id}`}>{row.written_by.length ? "target" : "source"}:{row.dataset_id}</option>)}
        </select></label>
        {entity && <StopButton key={entity} entity={entity} label={`Stop ${entity}`} />}
      </form>
    </Card>
    <Card title="Order of the queue"><Refusal problem={queue.error} /><Table name="order of the queue" rows={queue.data ?? []} empty="Nothing waits." columns={[
      { name: "position", value: (row) => row.position, right: true }, { name: "pipeline", value: (row) => row.pipeline, show: (row) => <PipelineLink id={row.pipeline} /> }, { name: "profile", value: (row) => row.profile },
      { name: "score", value: (row) => row.score, show: (row) => row.score.toPrecision(4), right: true }, { name: "terms", value: (row) => row.terms.map((term) => `${term.name} ${term.value.toPrecision(3)}`).join(", "), wide: true, show: (row) => <span title={row.terms.map((term) => term.because).join("; ")}>{row.terms.map((term) => `${term.name} ${term.value.toPrecision(3)}`).join(", ")}</span> },
      { name: "why it waits", value: (row) => row.because, wide: true }, { name: "expected start", value: (row) => row.expected_start, show: (row) => row.expected_start === null ? "" : <Time at={new Date(row.expected_start * 1000).toISOString()} /> },
    ]} /></Card>
    <Card title="Throttles"><Refusal problem={throttles.error} /><Table name="throttles" rows={throttles.data ?? []} empty="Nothing is throttled; rows of throttles say how fast a source or target may be used." columns={[
      { name: "throttle", value: (row) => row.throttle_id }, { name: "limits", value: (row) => `${row.entity_type ?? ""} ${row.entity_id ?? ""}`.trim() },
      { name: "last minute", value: (row) => row.rate, wide: true, show: (row) => row.problem ?? <><meter aria-label={`Use of ${row.throttle_id}`} min={0} max={row.in_effect || 1} value={row.rate} /> {row.rate.toPrecision(3)} of {row.in_effect.toPrecision(3)} {row.unit}</> },
      { name: "threshold", value: (row) => row.threshold, right: true }, { name: "waiting", value: (row) => row.waiting.length, right: true }, { name: "lowered because", value: (row) => row.refused_because, wide: true },
    ]} /></Card>
    <Card title="Requests"><Refusal problem={waiting.error ?? cancel.error} /><Table name="queue" rows={[...(running.data ?? []), ...(waiting.data ?? [])]} empty="No request runs or waits." columns={[
      { name: "request", value: (row) => row.request_id, show: (row) => <span className="mono">{row.request_id}</span> },
      { name: "status", value: (row) => row.status }, { name: "what", value: (row) => row.selection.join(" ") }, { name: "why it waits", value: (row) => row.because, wide: true },
      { name: "asked by", value: (row) => row.asked_by }, { name: "asked", value: (row) => row.asked_at, show: (row) => <Time at={row.asked_at} /> }, { name: "attempt", value: (row) => row.attempt, right: true },
      { name: "cancel", value: () => "", show: (row) => row.status === "waiting" ? <button className="plain" onClick={() => cancel.mutate(row.request_id)}>Cancel</button> : "" },
    ]} /></Card>
    <Card title="Settings of the profiles">{settings.data && <Table name="profile settings" rows={settings.data} empty="The profiles have their shipped settings; rows of profile_settings change them." columns={Object.keys(settings.data[0] ?? {}).filter((name) => name !== "_key").map((name) => ({ name, value: (row: Plain) => row[name] }))} />}<Refusal problem={settings.error} /></Card>
  </>;
}
