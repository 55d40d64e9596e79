import { AsyncLocalStorage } from "node:async_hooks";
import { installTracer } from "@activity/runtime/traces";
import * as api from "@opentelemetry/api";
import {
  InMemorySpanExporter,
  SimpleSpanProcessor,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createTracer } from "../../runtime/src/traces-spans.ts";
import { DatabaseTimeoutError, withDeadline } from "../../server/src/database/deadline.ts";
import { createPool, type Pool } from "../../server/src/database/pool.ts";
import { queryWithin } from "../../server/src/database/query-within.ts";
import { traceStatements } from "../../server/src/database/statement-spans.ts";
import { useTestDatabase } from "../harness/database.ts";

const DEADLINE_MS = 30_000;

const exporter = new InMemorySpanExporter();
const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
const tracer = createTracer(api, provider.getTracer("test"), new AsyncLocalStorage(), 1);
const asSpan = <Result>(name: string, work: () => Promise<Result>) =>
  tracer.inSpan(name, { begins: true }, work);

const database = useTestDatabase();
let pool: Pool;
let removeTracer: () => void;
beforeAll(() => {
  removeTracer = installTracer(tracer);
  traceStatements();
  pool = createPool(database.url, 1);
});
afterAll(() => {
  // Later test files in this process must not have the tracer.
  removeTracer();
  return pool.end();
});

const named = (name: string) => exporter.getFinishedSpans().filter((span) => span.name === name);

/** `runtime/src/traces-spans.test.ts` tests commits that several writes share. */
it("a statement that waits for a connection is in its caller's trace, not in that of the connection's last user", async () => {
  const sleep = () => queryWithin(pool, "SELECT SLEEP(0.01)", []);
  const add = () =>
    withDeadline(pool, DEADLINE_MS, (connection, answer) =>
      connection.execute("SELECT ? + 1", [1], answer),
    );
  await sleep();
  exporter.reset();
  const names = Array.from({ length: 6 }, (_, place) => `caller ${place}`);
  await Promise.all([
    ...names.map((name) =>
      asSpan(name, async () => {
        await sleep();
        await add();
      }),
    ),
    sleep(),
  ]);
  for (const name of names) {
    const [caller] = named(name);
    const texts = exporter
      .getFinishedSpans()
      .filter(({ parentSpanContext }) => parentSpanContext?.spanId === caller?.spanContext().spanId)
      .flatMap(({ attributes }) => attributes["db.query.text"] ?? []);
    expect(texts).toEqual(["SELECT SLEEP(?)", "SELECT ? + ?"]);
  }
  expect(named("SELECT")).toHaveLength(12);
});

it("a statement that is cut off at its deadline has a failed span, and the pool serves again", async () => {
  exporter.reset();
  const late = asSpan("late", () =>
    withDeadline(pool, 100, (connection, answer) =>
      connection.query("SELECT SLEEP(2)", [], answer),
    ),
  );
  await expect(late).rejects.toThrow(DatabaseTimeoutError);
  const codes = () => named("SELECT").map(({ status }) => status.code);
  await expect.poll(codes).toEqual([api.SpanStatusCode.ERROR]);
  expect(await queryWithin(pool, "SELECT 1 AS one", [])).toEqual([{ one: 1 }]);
});
