import { AsyncLocalStorage } from "node:async_hooks";
import { randomBytes } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { ActivityService, FeedChangeService } from "@activity/proto";
import { createLog } from "@activity/runtime/log";
import { type Metrics, NO_METRICS } from "@activity/runtime/metrics";
import { installTracer } from "@activity/runtime/traces";
import { createServerApp, Permission, readConfig } from "@activity/server";
import { Code, createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import * as api from "@opentelemetry/api";
import {
  InMemorySpanExporter,
  SimpleSpanProcessor,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createTracer } from "../../runtime/src/traces-spans.ts";
import { createReader } from "../harness/builders.ts";
import { useTestStack } from "../harness/stack.ts";
import { useStarted } from "../harness/use-started.ts";

const FAMILY = "activity_core_call_duration_seconds";
const LIST = "activity.read.v1.ActivityService/ListActivities";
const WATCH = "activity.read.v1.FeedChangeService/WatchFeeds";
const ADMISSION_MS = 600;
const DEADLINE_MS = 500;
const TRANSPORTS = ["Connect over HTTP/1.1", "gRPC", "calls of the same process"] as const;
type Line = { message: string; call: string; code: string; ms: number };

/** Has the database, the account and its key. */
const stack = useTestStack();
const core = useStarted(startCore);
let apiKey: string;
beforeAll(async () => {
  ({ apiKey } = await createReader(stack));
});
beforeEach(() => core.forget());

/** Starts another core on the same database. It keeps what it counts, logs and traces of calls. */
async function startCore() {
  const lines: Line[] = [];
  const counted: { seconds: number; call: string; code: string }[] = [];
  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  const remove = installTracer(
    createTracer(api, provider.getTracer("test"), new AsyncLocalStorage(), 1),
  );
  const metrics: Metrics = {
    ...NO_METRICS,
    histogram:
      (name) =>
      (seconds, call = "", code = "") =>
        void (name === FAMILY && counted.push({ seconds, call, code })),
  };
  const key = () => randomBytes(32).toString("hex");
  const config = readConfig({
    ...{ DATABASE_URL: stack.database.url, CURSOR_KEYS: key(), SECRET_KEYS: key() },
    CORE_PORT: "0",
  });
  const log = createLog((line) => {
    const parsed: Line = JSON.parse(line);
    if (parsed.message === "call") lines.push(parsed);
  });
  const app = createServerApp(config, log, metrics);
  const listener = await app.listen();
  const baseUrl = `http://127.0.0.1:${listener.port}`;
  const transports: Record<(typeof TRANSPORTS)[number], Transport> = {
    "Connect over HTTP/1.1": createConnectTransport({ baseUrl, httpVersion: "1.1" }),
    gRPC: createGrpcTransport({ baseUrl }),
    "calls of the same process": app.localTransport,
  };
  return {
    ...{ lines, counted, transports },
    spanMs: () =>
      exporter
        .getFinishedSpans()
        .filter(({ kind }) => kind === api.SpanKind.SERVER)
        .map(({ duration: [seconds, nanos] }) => seconds * 1_000 + nanos / 1_000_000),
    forget() {
      lines.length = 0;
      counted.length = 0;
      exporter.reset();
    },
    async stop() {
      // Later test files in this process must not have the tracer.
      remove();
      await listener.close();
      await app.close();
    },
  };
}

/** Makes a call. The database lets no request be counted for at least `ADMISSION_MS` of it. */
async function withLongAdmission<Result>(call: () => Promise<Result>): Promise<Result> {
  await stack.database.queryShards("LOCK TABLES rate_window WRITE");
  try {
    const result = call();
    result.catch(() => undefined);
    await expect.poll(() => stack.database.isRunning("INSERT INTO rate_window")).toBe(true);
    await wait(ADMISSION_MS);
    await stack.database.queryShards("UNLOCK TABLES");
    return await result;
  } finally {
    await stack.database.queryShards("UNLOCK TABLES");
  }
}

function list(transport: (typeof TRANSPORTS)[number], key: string, timeoutMs?: number) {
  const headers = { authorization: `Bearer ${key}` };
  const options = { headers, ...(timeoutMs !== undefined && { timeoutMs }) };
  return createClient(ActivityService, core.transports[transport]).listActivities({}, options);
}

/** Expects that one call was counted, logged and traced once, as `code` and with the time of its admission. */
async function expectOne(call: string, code: string): Promise<void> {
  await expect.poll(() => core.lines.length).toBe(1);
  // A second line or count would come within this time.
  await wait(100);
  expect(core.lines).toMatchObject([{ call, code }]);
  expect(core.counted).toMatchObject([{ call, code }]);
  const spans = core.spanMs();
  expect(spans).toHaveLength(1);
  const [{ ms } = { ms: 0 }] = core.lines;
  const [{ seconds } = { seconds: 0 }] = core.counted;
  for (const each of [ms, seconds * 1_000, ...spans]) {
    expect(each).toBeGreaterThanOrEqual(ADMISSION_MS);
  }
}

describe.each(TRANSPORTS)("ADR 0037: with %s, a call whose admission takes long", (transport) => {
  it("has that time in its count, line and span", async () => {
    await withLongAdmission(() => list(transport, apiKey));
    await expectOne(LIST, "ok");
  });

  it("has that time in its count, line and span also if it is refused", async () => {
    const refused = withLongAdmission(() => list(transport, "unknown"));
    await expect(refused).rejects.toMatchObject({ code: Code.Unauthenticated });
    await expectOne(LIST, "Unauthenticated");
  });

  it("is counted and logged once as DeadlineExceeded if its deadline passes meanwhile", async () => {
    const late = withLongAdmission(() => list(transport, apiKey, DEADLINE_MS));
    await expect(late).rejects.toMatchObject({ code: Code.DeadlineExceeded });
    await expectOne(LIST, "DeadlineExceeded");
  });
});

it("ADR 0037: a stream has the time of its authentication in its count, line and span", async () => {
  // The core counts the caller of a credential that it has not seen before.
  const credential = await stack.credential(Permission.ClientAddressForward);
  const leaving = new AbortController();
  const options = { headers: { "x-service-credential": credential }, signal: leaving.signal };
  const client = createClient(FeedChangeService, core.transports.gRPC);
  const messages = client.watchFeeds({}, options)[Symbol.asyncIterator]();
  await withLongAdmission(() => messages.next());
  leaving.abort();
  await expectOne(WATCH, "Canceled");
});
