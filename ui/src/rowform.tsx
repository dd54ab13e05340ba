// Edit one row of the catalog: a form made from the table's definition, difference and findings before saving.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { address, call, post, useGet, type Plain, type Problem } from "./api";
import { Dialog, Refusal, Time, text } from "./parts";
import { Table } from "./table";
import type { Change } from "./types";

interface ColumnDefinition { name: string; kind: string; is_key: boolean; required: boolean; choices: string[]; default: unknown; doc: string }
interface Definition { table: string; purpose: string; takes_effect: string; columns: ColumnDefinition[] }
interface RowAnswer { row: Plain; file: Plain; history: Change[] }
interface RowFinding { code: string; severity: string; sentence: string; hint: string }
interface Proposal { revision: number; rows: { table: string; key: string; what: string; columns?: Record<string, { before: unknown; after: unknown }> }[]; touches: string[]; running: string[]; findings: RowFinding[] }

const STRUCTURED = new Set(["list", "map", "names", "policy"]);
const path = (table: string, key: string) => `/catalog/tables/${encodeURIComponent(table)}/rows/${key.split("/").map(encodeURIComponent).join("/")}`;

/** The value of a field as the file has it; throws for a text that is no JSON. */
function parsed(column: ColumnDefinition, shown: string): unknown {
  if (shown === "") return null;
  if (column.kind === "flag") return shown === "true";
  if (column.kind === "whole" || column.kind === "number") return Number(shown);
  if (column.kind === "names") return shown.split(",").map((name) => name.trim()).filter(Boolean);
  if (column.kind === "policy") return shown.startsWith("{") ? JSON.parse(shown) : shown;
  return STRUCTURED.has(column.kind) ? JSON.parse(shown) : shown;
}

function shownAs(column: ColumnDefinition, value: unknown): string {
  if (column.kind === "names" && Array.isArray(value)) return value.join(", ");
  return typeof value === "object" && value !== null ? JSON.stringify(value, null, 1) : text(value);
}

export function RowForm({ table, rowKey }: { table: string; rowKey: string }) {
  const client = useQueryClient();
  const definition = useGet<Definition>(`/catalog/tables/${table}/definition`);
  const answer = useGet<RowAnswer>(path(table, rowKey));
  const [edited, setEdited] = useState<Record<string, string>>({});
  const [reason, setReason] = useState("");
  const [etag, setEtag] = useState("");
  const [broken, setBroken] = useState("");
  const revision = answer.data?.history[0]?.revision;
  useEffect(() => {
    // The version of the row that the form shows: a change by somebody else is refused with 412.
    void fetch(address(path(table, rowKey)), { credentials: "same-origin" }).then((response) => setEtag(response.headers.get("ETag") ?? ""));
  }, [table, rowKey, revision]);
  const send = (dryRun: boolean) => {
    const values: Plain = { ...answer.data?.file };
    for (const column of definition.data?.columns ?? []) {
      const shown = edited[column.name];
      if (shown === undefined) continue;
      const value = parsed(column, shown);
      if (value === null) delete values[column.name];
      else values[column.name] = value;
    }
    return call<Proposal>("PUT", path(table, rowKey), { values, reason: reason || null, dry_run: dryRun }, etag && !dryRun ? { "If-Match": etag } : {});
  };
  const propose = useMutation<Proposal, Problem>({ mutationFn: async () => send(true), onError: (error) => setBroken(error instanceof SyntaxError ? "A list or map is not valid JSON." : "") });
  const apply = useMutation<Proposal, Problem>({
    mutationFn: () => send(false),
    onSuccess: () => { setEdited({}); setReason(""); propose.reset(); void client.invalidateQueries(); },
  });
  if (definition.error ?? answer.error) return <Refusal problem={definition.error ?? answer.error} />;
  if (!definition.data || !answer.data) return null;
  const { file, row, history } = answer.data;
  const isDirty = Object.keys(edited).length > 0;
  const errors = (propose.data?.findings ?? []).filter((finding) => finding.severity === "error");
  return <div className="rowform">
    <p className="quiet">{definition.data.purpose} Changes take effect {definition.data.takes_effect}.</p>
    <form className="fields" onSubmit={(event) => { event.preventDefault(); setBroken(""); propose.mutate(); }}>
      {definition.data.columns.map((column) => {
        const shown = edited[column.name] ?? shownAs(column, file[column.name]);
        const change = (value: string) => { propose.reset(); apply.reset(); setEdited({ ...edited, [column.name]: value }); };
        const id = `field-${column.name}`;
        const fallback = column.default == null ? "unset" : `unset: ${shownAs(column, column.default)}`;
        const choices = column.kind === "flag" ? ["true", "false"] : column.choices;
        return <div key={column.name} className={edited[column.name] !== undefined ? "field edited" : "field"}>
          <label htmlFor={id}>{column.name}</label>
          {choices.length > 0 ? <select id={id} disabled={column.is_key} value={shown} onChange={(event) => change(event.target.value)}><option value="">{fallback}</option>{choices.map((choice) => <option key={choice}>{choice}</option>)}</select>
            : STRUCTURED.has(column.kind) && column.kind !== "names" || shown.includes("\n") ? <textarea id={id} rows={Math.min(12, shown.split("\n").length + 1)} placeholder={fallback} value={shown} onChange={(event) => change(event.target.value)} />
            : <input id={id} readOnly={column.is_key} type={column.kind === "whole" || column.kind === "number" ? "number" : "text"} step={column.kind === "number" ? "any" : undefined} placeholder={fallback} value={shown} onChange={(event) => change(event.target.value)} />}
          <small>{column.doc}</small>
        </div>;
      })}
      <div className="buttons"><button type="button" disabled={!isDirty} onClick={() => { setEdited({}); propose.reset(); }}>Take back</button><button className="main" disabled={!isDirty || propose.isPending}>Show the difference</button></div>
    </form>
    {broken ? <div className="refusal" role="alert"><strong>{broken}</strong></div> : <Refusal problem={propose.error} />}
    {propose.data && <div className="difference" aria-live="polite">
      <h3>The difference</h3>
      {propose.data.rows.length === 0 && <p>These values change nothing.</p>}
      {propose.data.rows.map((changed) => <Difference key={changed.key} columns={changed.columns ?? {}} />)}
      <p>It touches {propose.data.touches.join(", ") || "no pipeline"}. {propose.data.running.length > 0 && <b>Running now: {propose.data.running.join(", ")}.</b>}</p>
      {propose.data.findings.map((finding) => <div key={finding.code + finding.sentence} className={`finding ${finding.severity}`}><b>{finding.code}</b> {finding.sentence} <span className="quiet">{finding.hint}</span></div>)}
      <form onSubmit={(event) => { event.preventDefault(); apply.mutate(); }}>
        <label>Reason, for the history<input required value={reason} onChange={(event) => setReason(event.target.value)} /></label>
        <button className="main" disabled={errors.length > 0 || propose.data.rows.length === 0 || !reason.trim() || apply.isPending}>Apply</button>
        {errors.length > 0 && <span className="quiet"> Correct the errors first.</span>}
      </form>
      <Refusal problem={apply.error} />
    </div>}
    {apply.isSuccess && <p className="done" role="status">Applied.</p>}
    <h3>History</h3>
    <Changes changes={history} now={row} />
  </div>;
}

export function Difference({ columns }: { columns: Record<string, { before: unknown; after: unknown }> }) {
  return <dl className="diff">{Object.entries(columns).map(([name, { before, after }]) => <div key={name}><dt>{name}</dt><dd><del>{text(before) || "unset"}</del> <ins>{text(after) || "unset"}</ins></dd></div>)}</dl>;
}

/** The columns that a change of a row changed. */
function changedColumns(change: Change): Record<string, { before: unknown; after: unknown }> {
  const names = new Set([...Object.keys(change.before ?? {}), ...Object.keys(change.after ?? {})]);
  return Object.fromEntries([...names].map((name) => [name, { before: change.before?.[name], after: change.after?.[name] }] as const).filter(([, pair]) => JSON.stringify(pair.before) !== JSON.stringify(pair.after)));
}

export function Changes({ changes }: { changes: Change[]; now?: Plain }) {
  const [undoing, setUndoing] = useState<number | null>(null);
  return <>
    <Table name="history" rows={changes} empty="Nobody changed this row yet." columns={[
      { name: "revision", value: (change) => change.revision, right: true },
      { name: "when", value: (change) => change.at, show: (change) => <Time at={change.at} /> },
      { name: "who", value: (change) => change.actor },
      { name: "row", value: (change) => `${change.table}:${change.key.join("/")}` },
      { name: "what", value: (change) => change.operation === "update" ? Object.keys(changedColumns(change)).join(", ") : change.operation, wide: true },
      { name: "why", value: (change) => change.reason, wide: true },
      { name: "undo", value: () => "", show: (change) => <button className="plain" onClick={() => setUndoing(change.revision)}>Undo {change.revision}</button> },
    ]} />
    {undoing !== null && <UndoDialog revision={undoing} close={() => setUndoing(null)} />}
  </>;
}

interface Undone { rows: { table: string; key: string; what: string }[] }

function UndoDialog({ revision, close }: { revision: number; close: () => void }) {
  const client = useQueryClient();
  const [reason, setReason] = useState("");
  const look = useMutation<Undone, Problem>({ mutationFn: () => post("/catalog/undo", { revision, dry_run: true }) });
  const undo = useMutation<Undone, Problem>({ mutationFn: () => post("/catalog/undo", { revision, reason }), onSuccess: () => { void client.invalidateQueries(); close(); } });
  if (look.isIdle) look.mutate();
  return <Dialog title={`Undo revision ${revision}`} close={close}>
    <Refusal problem={look.error} />
    {look.data && <><p>The undo is a new revision. It changes:</p><ul className="rows">{look.data.rows.map((row, index) => <li key={index}>{row.table}: {text(row.key)} ({row.what})</li>)}</ul></>}
    <form onSubmit={(event) => { event.preventDefault(); undo.mutate(); }}>
      <label>Reason<input required value={reason} onChange={(event) => setReason(event.target.value)} /></label>
      <Refusal problem={undo.error} />
      <div className="buttons"><button type="button" onClick={close}>Leave it</button><button className="main" disabled={!look.data || !reason.trim() || undo.isPending}>Undo it</button></div>
    </form>
  </Dialog>;
}
