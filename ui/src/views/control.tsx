// Control: stop and release anything, the queue and why it waits, profiles.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call, useAll, useGet, type Plain, type Problem } from "../api";
import { Card, Empty, Refusal, Time } from "../parts";
import { StopButton, StopList, useStops } from "../stop";
import { Table } from "../table";

interface Waiting { request_id: string; pipelines: string[]; selection: string[]; because: string | null; asked_by: string | null; asked_at: string; due_at: string | null; attempt: number; status: string }

export default function Control() {
  const client = useQueryClient();
  const stops = useStops();
  const waiting = useGet<Waiting[]>("/requests?status=waiting", 5000);
  const running = useGet<Waiting[]>("/requests?status=running", 5000);
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
    <Card title="Queue"><Refusal problem={waiting.error ?? cancel.error} /><Table name="queue" rows={[...(running.data ?? []), ...(waiting.data ?? [])]} empty="No request runs or waits." columns={[
      { name: "request", value: (row) => row.request_id, show: (row) => <span className="mono">{row.request_id}</span> },
      { name: "status", value: (row) => row.status }, { name: "what", value: (row) => row.selection.join(" ") }, { name: "why it waits", value: (row) => row.because, wide: true },
      { name: "asked by", value: (row) => row.asked_by }, { name: "asked", value: (row) => row.asked_at, show: (row) => <Time at={row.asked_at} /> }, { name: "attempt", value: (row) => row.attempt, right: true },
      { name: "cancel", value: () => "", show: (row) => row.status === "waiting" ? <button className="plain" onClick={() => cancel.mutate(row.request_id)}>Cancel</button> : "" },
    ]} /></Card>
    <Card title="Settings of the profiles">{settings.data && <Table name="profile settings" rows={settings.data} empty="The profiles have their shipped settings; rows of profile_settings change them." columns={Object.keys(settings.data[0] ?? {}).filter((name) => name !== "_key").map((name) => ({ name, value: (row: Plain) => row[name] }))} />}<Refusal problem={settings.error} /></Card>
  </>;
}
