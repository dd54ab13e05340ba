// Addresses of the page: `#/runs/ID?tab=log`. The part after # never reaches the server, so every
// link works behind any base path.
import { useSyncExternalStore } from "react";

export interface Address {
  parts: string[];
  query: URLSearchParams;
}

function read(): string {
  return location.hash.replace(/^#/, "") || "/";
}

function listen(changed: () => void): () => void {
  addEventListener("hashchange", changed);
  return () => removeEventListener("hashchange", changed);
}

export function useAddress(): Address {
  const [path = "/", query = ""] = useSyncExternalStore(listen, read).split("?");
  return { parts: path.split("/").filter(Boolean).map(decodeURIComponent), query: new URLSearchParams(query) };
}

export function link(parts: (string | number)[], query: Record<string, string | undefined> = {}): string {
  const set = Object.entries(query).filter((pair): pair is [string, string] => Boolean(pair[1]));
  const text = new URLSearchParams(set).toString();
  return `#/${parts.map((part) => encodeURIComponent(String(part))).join("/")}${text ? `?${text}` : ""}`;
}

export function go(address: string): void {
  location.hash = address;
}

/** One value of the query, kept in the address so that a link shows the same thing. */
export function useQueryValue(name: string, fallback = ""): [string, (value: string) => void] {
  const { parts, query } = useAddress();
  const set = (value: string) => {
    const next = new URLSearchParams(query);
    if (value === fallback || value === "") next.delete(name);
    else next.set(name, value);
    history.replaceState(null, "", link(parts, Object.fromEntries(next)));
    dispatchEvent(new HashChangeEvent("hashchange"));
  };
  return [query.get(name) ?? fallback, set];
}
