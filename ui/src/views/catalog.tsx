// Catalog: its tables, their rows, one row in a form, findings and the history of everything.
import { useAll, useGet, type Plain } from "../api";
import { Card, Refusal, State, Tabs } from "../parts";
import { link, useQueryValue } from "../router";
import { Changes, RowForm } from "../rowform";
import { Table } from "../table";
import type { Change } from "../types";

interface CatalogFinding { code: string; severity: string; table: string; key: string; sentence: string; hint: string }

export function Catalog({ table, rowKey }: { table?: string; rowKey?: string }) {
  if (table && rowKey) return <><h1><a href={link(["catalog"])}>Catalog</a> / <a href={link(["catalog", table])}>{table}</a> / {rowKey}</h1><Card title={rowKey}><RowForm key={rowKey} table={table} rowKey={rowKey} /></Card></>;
  return table ? <Rows table={table} /> : <Tables />;
}

function Tables() {
  const [tab, setTab] = useQueryValue("tab", "Tables");
  const tables = useGet<{ revision: number; tables: { table: string; rows: number; purpose: string }[] }>("/catalog/tables");
  const findings = useGet<CatalogFinding[]>("/catalog/findings");
  const history = useGet<{ items: Change[] }>(tab === "History" ? "/catalog/history?limit=1000" : null);
  return <><div className="title"><h1>Catalog</h1>{tables.data && <span className="quiet">revision {tables.data.revision}</span>}</div>
    <Refusal problem={tables.error ?? findings.error ?? history.error} />
    <Tabs names={["Tables", "Findings", "History"]} current={tab} choose={setTab} />
    {tab === "Tables" && <Table name="tables" rows={tables.data?.tables ?? []} empty="No tables." columns={[{ name: "table", value: (row) => row.table, show: (row) => <a href={link(["catalog", row.table])}>{row.table}</a> }, { name: "rows", value: (row) => row.rows, right: true }, { name: "purpose", value: (row) => row.purpose, wide: true }]} />}
    {tab === "Findings" && <Table name="findings" rows={findings.data ?? []} empty="The rows have no problems." columns={[{ name: "severity", value: (row) => row.severity, show: (row) => <State of={row.severity} /> }, { name: "code", value: (row) => row.code }, { name: "row", value: (row) => `${row.table}:${row.key}`, show: (row) => <a href={link(["catalog", row.table, ...row.key.split("/")])}>{row.table}:{row.key}</a> }, { name: "problem", value: (row) => row.sentence, wide: true }, { name: "what to do", value: (row) => row.hint, wide: true }]} />}
    {tab === "History" && <Changes changes={history.data?.items ?? []} />}
  </>;
}

function Rows({ table }: { table: string }) {
  const rows = useAll<Plain>(`/catalog/tables/${encodeURIComponent(table)}?limit=1000`);
  const names = Object.keys(rows.data?.[0] ?? {}).filter((name) => name !== "_key" && (rows.data ?? []).slice(0, 200).some((row) => row[name] !== null)).slice(0, 9);
  return <><h1><a href={link(["catalog"])}>Catalog</a> / {table}</h1><Refusal problem={rows.error} />
    {rows.data && <Table name={table} rows={rows.data} empty="This table has no rows." columns={[{ name: "row", value: (row) => row._key, show: (row) => <a href={link(["catalog", table, ...String(row._key).split("/")])}>{String(row._key)}</a> }, ...names.map((name) => ({ name, value: (row: Plain) => row[name] }))]} />}</>;
}
