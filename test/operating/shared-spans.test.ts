import { AsyncLocalStorage } from "node:async_hooks";
import { DonationService } from "@activity/proto";
import { installTracer } from "@activity/runtime/traces";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import * as api from "@opentelemetry/api";
import {
  InMemorySpanExporter,
  SimpleSpanProcessor,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { createTracer } from "../../runtime/src/traces-spans.ts";
import { withDeadline } from "../../server/src/database/deadline.ts";
import { createPackets, type Packets } from "../../server/src/database/packet.ts";
import { createPool, type Pool } from "../../server/src/database/pool.ts";
import { queryWithin } from "../../server/src/database/query-within.ts";
import { traceStatements } from "../../server/src/database/statement-spans.ts";
import { createDonationService } from "../../server/src/donation/donation-service.ts";
import { Access } from "../../server/src/rpc/access.ts";
import { createLocalTransport } from "../../server/src/rpc/local-transport.ts";
import { register } from "../../server/src/rpc/registered-service.ts";
import { createWriter } from "../../server/src/write/writer.ts";
import { unique } from "../harness/builders.ts";
import { type Services, startServices } from "../harness/services.ts";

const DEADLINE_MS = 30_000;

const exporter = new InMemorySpanExporter();
const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
const tracer = createTracer(api, provider.getTracer("test"), new AsyncLocalStorage(), 1);
const asSpan = <Result>(name: string, work: () => Promise<Result>) =>
  tracer.inSpan(name, { begins: true }, work);

let services: Services;
let packets: Packets[];
let pool: Pool;
beforeAll(async () => {
  services = await startServices();
  installTracer(tracer);
  traceStatements();
  packets = [1, 4, 2].map((count) => createPackets(services.database.url, count, DEADLINE_MS));
  pool = createPool(services.database.url, 1);
});
afterAll(async () => {
  await pool.end();
  await Promise.all(packets.map((each) => each.close()));
  await services.stop();
});
beforeEach(() => exporter.reset());

const named = (name: string) => exporter.getFinishedSpans().filter((span) => span.name === name);
const idOf = (span: ReturnType<typeof named>[number] | undefined) => span?.spanContext().spanId;
const linksOf = (span: ReturnType<typeof named>[number] | undefined) =>
  span?.links.map(({ context }) => context.spanId) ?? [];

it("a commit that writes share is in the trace of the first, linked to the others and they to it. ADR 0046", async () => {
  const accountId = await services.createAccount();
  const [together, alone, leftOut] = packets as [Packets, Packets, Packets];
  const service = createDonationService(
    createWriter({ together, alone, leftOut }, services.outbox, services.feedChanges),
  );
  const donations = createClient(
    DonationService,
    createLocalTransport([register(DonationService, service, { access: Access.Open })], []),
  );
  const write = () =>
    donations.createDonation({
      ...{ accountId, externalId: unique("donation"), amountCents: 500n, currency: "eur" },
      donatedAt: timestampFromMs(1_600_000_000_000),
    });
  await write();
  exporter.reset();
  await asSpan("alone", write);
  // Two that are sampled, and one that is not.
  await Promise.all([asSpan("a", write), write(), asSpan("b", write)]);
  const [[first], [a], [b]] = [named("alone"), named("a"), named("b")];
  const [own, shared] = named("commit");
  expect(own?.parentSpanContext?.spanId).toBe(idOf(first));
  expect(linksOf(first)).toEqual([]);
  expect(shared?.parentSpanContext?.spanId).toBe(idOf(a));
  expect(shared?.attributes).toEqual({ "activity.batch.size": 3 });
  expect(linksOf(shared)).toEqual([idOf(b)]);
  expect(linksOf(b)).toEqual([idOf(shared)]);
  const below = (span: typeof own) =>
    exporter
      .getFinishedSpans()
      .filter(
        ({ kind, parentSpanContext }) => kind === 2 && parentSpanContext?.spanId === idOf(span),
      )
      .map(({ name }) => name);
  expect(below(own)).toEqual(["SELECT", "INSERT"]);
  expect(below(shared)).toEqual(["SELECT", "INSERT"]);
});

it("a statement that waits for a connection is in the trace of who asked, not of who gave the connection back", async () => {
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
      .filter(({ parentSpanContext }) => parentSpanContext?.spanId === idOf(caller))
      .flatMap(({ attributes }) => attributes["db.query.text"] ?? []);
    expect(texts).toEqual(["SELECT SLEEP(?)", "SELECT ? + ?"]);
  }
  expect(named("SELECT")).toHaveLength(12);
});
