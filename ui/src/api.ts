// Requests to the API: the session's CSRF token on what changes, problems as errors with their hint.
import { useQuery, type UseQueryResult } from "@tanstack/react-query";

export type Plain = Record<string, unknown>;

export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    detail: string,
    readonly hint: string,
    readonly facts: Plain,
  ) {
    super(detail);
  }
}

const base = new URL("api/v1", document.baseURI.split("#")[0]).pathname;
let csrf: string | null = null;

export function keepCsrf(token: string | null): void {
  csrf = token;
}

export function address(path: string): string {
  return base + path;
}

export async function call<T>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<T> {
  const acts = method !== "GET";
  const response = await fetch(address(path), {
    method,
    credentials: "same-origin",
    headers: {
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      ...(acts && csrf ? { "X-CSRF-Token": csrf } : {}),
      ...(acts ? { "Idempotency-Key": crypto.randomUUID?.() ?? String(Math.random()) } : {}),
      ...headers,
    },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await response.text();
  if (response.ok) return (text ? JSON.parse(text) : null) as T;
  let problem: Plain = {};
  try {
    problem = JSON.parse(text) as Plain;
  } catch {
    /* A proxy answered with something else; the status is all we know. */
  }
  throw new Problem(
    response.status,
    String(problem.code ?? response.status),
    String(problem.detail ?? `The service answered ${response.status}.`),
    String(problem.hint ?? ""),
    (problem.facts ?? {}) as Plain,
  );
}

export const get = <T>(path: string) => call<T>("GET", path);
export const post = <T>(path: string, body: unknown = {}) => call<T>("POST", path, body);

/** The answer of a GET, kept fresh by the event stream; `every` also asks again by the clock. */
export function useGet<T>(path: string | null, every?: number): UseQueryResult<T, Problem> {
  return useQuery<T, Problem>({
    queryKey: [path],
    queryFn: () => get<T>(path ?? ""),
    enabled: path !== null,
    refetchInterval: every,
  });
}

/** Every page of a list, up to `most` items. */
export async function getAll<T>(path: string, most = 5000): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | null = null;
  do {
    const mark = path.includes("?") ? "&" : "?";
    const found: { items: T[]; next: string | null } = await get(path + (cursor ? `${mark}cursor=${encodeURIComponent(cursor)}` : ""));
    items.push(...found.items);
    cursor = found.next;
  } while (cursor && items.length < most);
  return items;
}

export function useAll<T>(path: string | null, every?: number): UseQueryResult<T[], Problem> {
  return useQuery<T[], Problem>({
    queryKey: [path, "all"],
    queryFn: () => getAll<T>(path ?? ""),
    enabled: path !== null,
    refetchInterval: every,
  });
}
