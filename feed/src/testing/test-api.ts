import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Activity } from "../contract.ts";

/** A request that the API received. */
export interface Asked {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
}

/** Answers one request. Its result is sent as JSON with the status 200. */
export type Behaviour = (asked: Asked, response: ServerResponse) => unknown;

/** A test server with the API's behaviour. Records are in the order of storage, and a cursor is a number. */
export interface TestApi {
  readonly baseUrl: string;
  readonly asked: Asked[];
  readonly records: Activity[];
  /** How many records a page has. */
  pageSize: number;
  /** Replacement answers for the next requests, one each. */
  readonly instead: Behaviour[];
  /** Called for each request. If it returns a behaviour, that answers the request. */
  refuse: ((asked: Asked) => Behaviour | undefined) | undefined;
  /** Whether the API obeys `Prefer: wait`. */
  isWaiting: boolean;
  /** How long the API holds a request without a record. By default, longer than any test takes. */
  waitMs: number;
  /** Stores a record and answers waiting requests. */
  store(record: Activity): void;
  close(): Promise<void>;
}

export const KEY = `act_live_${"0123456789abcdef".repeat(4)}`;
const EXPIRES_AT = "2999-01-01T00:00:00.000000Z";
const AN_HOUR_MS = 3_600_000;

/** Creates a follow that was stored `number` seconds after a fixed time. */
export function createRecord(number: number): Activity {
  const recordedAt = `${new Date(1_700_000_000_000 + number * 1_000).toISOString().slice(0, -1)}000Z`;
  return {
    id: `evt_${String(number).padStart(15, "0")}`,
    ...{ type: "follow", platform: "live_platform_1" },
    ...{ occurred_at: recordedAt, recorded_at: recordedAt, actor: { name: `N${number}` } },
    ...{ message: null, value: 0, unit: "none", currency: null, refunded_amount_cents: null },
  };
}

/** Returns a behaviour that sends the API's error. */
export function refuse(
  status: number,
  code: string,
  headers: Record<string, string> = {},
): Behaviour {
  return (_asked, response) => {
    const error = { code, message: `It is ${code}.`, request_id: "req_0123456789012345678901" };
    response.writeHead(status, headers).end(JSON.stringify({ error }));
  };
}

export async function startTestApi(): Promise<TestApi> {
  const waiting = new Set<() => void>();
  const api: Omit<TestApi, "baseUrl" | "close"> = {
    asked: [],
    records: [],
    pageSize: 100,
    instead: [],
    refuse: undefined,
    isWaiting: true,
    waitMs: AN_HOUR_MS,
    store(record) {
      api.records.push(record);
      for (const answer of waiting) answer();
    },
  };

  function readPage({ query }: Asked) {
    const inRange = api.records.filter(
      ({ recorded_at: at }) =>
        !(query.since && at < query.since) && !(query.until && at >= query.until),
    );
    const ordered = query.order === "asc" ? inRange : inRange.toReversed();
    const from = Number(query.cursor ?? 0);
    const size = Math.min(api.pageSize, Number(query.limit ?? 50));
    const data = ordered.slice(from, from + size);
    const next = data.length > 0 ? `${from + data.length}` : (query.cursor ?? null);
    const hasMore = from + data.length < ordered.length;
    return { data, pagination: { has_more: hasMore, next_cursor: next } };
  }

  async function answer(asked: Asked, response: ServerResponse): Promise<unknown> {
    const instead = api.refuse?.(asked) ?? api.instead.shift();
    if (instead) return instead(asked, response);
    response.setHeader("RateLimit", '"account";r=100;t=60');
    if (asked.path === "/me") return { data: { key: { expires_at: EXPIRES_AT } } };
    const page = readPage(asked);
    if (page.data.length > 0 || !asked.headers.prefer || !api.isWaiting) return page;
    response.setHeader("Preference-Applied", "wait");
    await new Promise<void>((resolve) => {
      waiting.add(resolve);
      setTimeout(resolve, api.waitMs).unref();
      response.on("close", resolve);
    });
    return readPage(asked);
  }

  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://localhost");
    const query = Object.fromEntries(searchParams);
    const asked = { path: pathname.replace("/api/v1", ""), query, headers: request.headers };
    api.asked.push(asked);
    const body = await answer(asked, response);
    if (!response.headersSent && !response.destroyed) response.end(JSON.stringify(body));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo; // It listens on TCP.
  return Object.assign(api, {
    baseUrl: `http://127.0.0.1:${port}/api/v1`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}
