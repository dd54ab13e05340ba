// One table for every list: sorting, a filter, only the visible rows in the document, CSV export.
import { flexRender, getCoreRowModel, getFilteredRowModel, getSortedRowModel, useReactTable, type ColumnDef, type SortingState } from "@tanstack/react-table";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useMemo, useRef, useState, type ReactNode } from "react";
import { Empty, text } from "./parts";

export interface Column<T> {
  name: string;
  value: (row: T) => unknown;
  show?: (row: T) => ReactNode;
  right?: boolean;
  wide?: boolean;
}

const ROW = 33;

export function Table<T>({ name, rows, columns, empty, filter = true }: { name: string; rows: T[]; columns: Column<T>[]; empty: ReactNode; filter?: boolean }) {
  const [sorting, setSorting] = useState<SortingState>([]);
  const [search, setSearch] = useState("");
  const definitions = useMemo<ColumnDef<T>[]>(
    () => columns.map((column) => ({ id: column.name, accessorFn: (row) => column.value(row), header: column.name, sortUndefined: "last", cell: (cell) => column.show?.(cell.row.original) ?? text(cell.getValue()) })),
    [columns],
  );
  const table = useReactTable({
    data: rows, columns: definitions, state: { sorting, globalFilter: search }, onSortingChange: setSorting,
    globalFilterFn: (row, id, wanted: string) => text(row.getValue(id)).toLowerCase().includes(wanted.toLowerCase()),
    getCoreRowModel: getCoreRowModel(), getSortedRowModel: getSortedRowModel(), getFilteredRowModel: getFilteredRowModel(),
  });
  const found = table.getRowModel().rows;
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({ count: found.length, getScrollElement: () => scroller.current, estimateSize: () => ROW, overscan: 20 });
  if (rows.length === 0) return <Empty>{empty}</Empty>;
  const items = virtual.getVirtualItems();
  const before = items[0]?.start ?? 0;
  const after = virtual.getTotalSize() - (items.at(-1)?.end ?? 0);
  return (
    <div className="table">
      <div className="tools">
        {filter && rows.length > 8 && <input type="search" aria-label={`Filter ${name}`} placeholder="Filter" value={search} onChange={(event) => setSearch(event.target.value)} />}
        <span className="quiet">{found.length === rows.length ? rows.length : `${found.length} of ${rows.length}`}</span>
        <button className="plain" onClick={() => save(name, columns, found.map((row) => row.original))}>CSV</button>
      </div>
      <div className="scroller" ref={scroller} tabIndex={0} role="region" aria-label={name}>
        <table>
          <thead>
            {table.getHeaderGroups().map((group) => (
              <tr key={group.id}>
                {group.headers.map((header, index) => (
                  <th key={header.id} className={columns[index]?.right ? "right" : ""} aria-sort={header.column.getIsSorted() === "asc" ? "ascending" : header.column.getIsSorted() === "desc" ? "descending" : "none"}>
                    <button className="plain" onClick={header.column.getToggleSortingHandler()}>
                      {flexRender(header.column.columnDef.header, header.getContext())}{{ asc: " ↑", desc: " ↓" }[String(header.column.getIsSorted())] ?? ""}
                    </button>
                  </th>
                ))}
              </tr>
            ))}
          </thead>
          <tbody>
            {before > 0 && <tr aria-hidden><td style={{ height: before }} /></tr>}
            {items.map((item) => {
              const row = found[item.index];
              return row && (
                <tr key={row.id} data-index={item.index} ref={virtual.measureElement}>
                  {row.getVisibleCells().map((cell, index) => (
                    <td key={cell.id} data-label={columns[index]?.name} className={`${columns[index]?.right ? "right" : ""} ${columns[index]?.wide ? "wide" : ""}`}>{flexRender(cell.column.columnDef.cell, cell.getContext())}</td>
                  ))}
                </tr>
              );
            })}
            {after > 0 && <tr aria-hidden><td style={{ height: after }} /></tr>}
          </tbody>
        </table>
      </div>
    </div>
  );
}

/** A cell of a CSV file. A text that a spreadsheet would take for a formula is quoted with an apostrophe. */
function csvCell(value: unknown): string {
  let shown = text(value);
  if (typeof value === "string" && /^[=+\-@\t\r]/.test(shown)) shown = `'${shown}`;
  return /[",\n\r]/.test(shown) ? `"${shown.replaceAll('"', '""')}"` : shown;
}

function save<T>(name: string, columns: Column<T>[], rows: T[]): void {
  const lines = [columns.map((column) => csvCell(column.name)), ...rows.map((row) => columns.map((column) => csvCell(column.value(row))))];
  const file = new Blob([lines.map((line) => line.join(",")).join("\r\n")], { type: "text/csv" });
  const anchor = document.createElement("a");
  anchor.href = URL.createObjectURL(file);
  anchor.download = `${name.replaceAll(/[^\w.-]+/g, "-")}.csv`;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(anchor.href), 1000);
}
