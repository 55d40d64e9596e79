import * as proto from "@activity/proto";
import { Permission } from "@activity/server";
import type { DescService } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { answer } from "../delivery/harness-receiver-behaviours.ts";
import { createAccount, createEndpoint, createPaidDonation } from "../harness/builders.ts";
import { type Clients, transportTo } from "../harness/clients.ts";
import { requestOf } from "../harness/http.ts";
import { useTestStack } from "../harness/stack.ts";
import { useTemporal } from "../harness/temporal.ts";
import { useFolder, useStarted } from "../harness/use-started.ts";
import { usePrograms } from "../start/harness-program.ts";
import {
  KEYS,
  PARTS,
  type Part,
  useParts,
  useTrustedReceiver,
  type Variables,
  variablesOf,
} from "./harness-parts.ts";
import { type ReceivedSpan, startSpanReceiver } from "./harness-spans.ts";

const PAY = "activity.ingest.v1.DonationService/PayDonation";
const LIST = "activity.read.v1.ActivityService/ListActivities";
const RECORD = "activity.dispatch.v1.DispatchService/RecordAttempts";
const CALLER = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331" };
/** The trace of a client that tries to decide what is sampled here. */
const FOREIGN = "4bf92f3577b34da6a3ce929d0e0e4736";
const DONOR = "Ada of the hidden name";
const WORDS = 'It\'s a "hidden" \\ message; SELECT 1';
const PATIENT = { timeout: 40_000, interval: 100 };

const folder = useFolder("traces");
const collector = useStarted(startSpanReceiver);
const temporal = useTemporal(folder);
const trusted = useTrustedReceiver(folder, answer(503));
/** The product that provides the database and credentials. It sends no traces. */
const stack = useTestStack({ env: KEYS });
const startPart = useParts();
const startProgram = usePrograms();
let core: Part;
let gateway: Part;
let everything: string;
let accountId: string;
let apiKey: string;
/** Texts that no trace may show. */
let hidden: string[];

/** Creates a client of the core that sends traces. */
function client<Service extends DescService>(service: Service, headers: Variables = {}) {
  const all = { authorization: `Bearer ${everything}`, ...headers };
  return createClient(service, transportTo(`http://127.0.0.1:${core.port}`, all));
}

/** Pays a donation in the caller's trace, sampled (`01`) or not (`00`). */
async function donate(flags: "00" | "01"): Promise<void> {
  const traceparent = `00-${CALLER.traceId}-${CALLER.spanId}-${flags}`;
  const traced: Clients = (service) => client(service, { traceparent });
  await createPaidDonation({ client: traced }, accountId, { donorName: DONOR, message: WORDS });
}

const untilOneIs = (state: proto.DeliveryState) =>
  vi.waitUntil(async () => {
    const { deliveries } = await client(proto.DeliveryService).listDeliveries({ accountId });
    return deliveries.find((each) => each.state === state);
  }, PATIENT);

/**
 * Starts core, gateway and deliveries as three processes, and pays a donation in a sampled trace of the caller. The
 * receiver refuses the first attempt. The process that made it ends, and another one makes the retry, which succeeds.
 */
beforeAll(async () => {
  const { receiver, trusting } = trusted;
  everything = await stack.credential(...Object.values(Permission));
  const OTEL_EXPORTER_OTLP_ENDPOINT = collector.endpoint;
  const traces = { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_SAMPLER_ARG: "1" };
  core = await startPart("core", { ...(await variablesOf("core", stack)), ...traces, ...trusting });
  const toCore = { ...traces, CORE_URL: `http://127.0.0.1:${core.port}` };
  const ofGateway = await variablesOf("gateway", stack);
  gateway = await startPart("gateway", { ...ofGateway, ...toCore });
  const ofDeliveries: Variables = {
    ...{ ...(await variablesOf("deliveries", stack)), ...toCore, ...trusting },
  };
  const withoutTemporal = startProgram(PARTS.deliveries.program, ofDeliveries);

  accountId = await createAccount({ client }, { displayName: DONOR });
  const created = { accountId, name: DONOR, validityDays: 30 };
  const key = await client(proto.ApiKeyService).createApiKey(created);
  apiKey = key.secret;
  const url = `https://127.0.0.1:${receiver.port}/hook`;
  const kinds = [proto.WebhookEventKind.DONATION_CREATED];
  const { endpointId, secret } = await createEndpoint({ client }, accountId, url, kinds);
  await donate("01");
  const { id, eventId } = await untilOneIs(proto.DeliveryState.RETRYING);
  receiver.behaviour = answer(200);
  // Skips the minute before the retry.
  await stack.database.query("UPDATE delivery SET next_attempt_at = next_attempt_at - 60000000");
  await stack.database.query("UPDATE delivery_attempt SET started_at = started_at - 60000000");
  await withoutTemporal.end();
  const TEMPORAL_ADDRESS = temporal.address;
  startProgram(PARTS.deliveries.program, { ...ofDeliveries, TEMPORAL_ADDRESS });
  await untilOneIs(proto.DeliveryState.DELIVERED);
  const credentials = [ofGateway.GATEWAY_CREDENTIAL, ofDeliveries.CORE_CREDENTIAL, everything];
  hidden = [
    ...[accountId, key.apiKey?.id ?? "", endpointId, id, eventId, DONOR, WORDS, "hidden"],
    ...[apiKey, secret, url, `:${receiver.port}`, ...Object.values(KEYS)],
    ...credentials.map((credential) => credential ?? ""),
  ];
}, 240_000);

const ofTrace = (traceId: string) => collector.spans.filter((span) => span.traceId === traceId);
const named = (spans: readonly ReceivedSpan[], name: string) =>
  spans.filter((span) => span.name === name);
const below = (spans: readonly ReceivedSpan[], parent: ReceivedSpan | undefined) =>
  spans.filter(({ parentSpanId }) => parentSpanId === parent?.spanId);
const namesOf = (spans: readonly ReceivedSpan[]) =>
  spans.map(({ service, name }) => `${service} ${name}`);
const textsOf = (spans: readonly ReceivedSpan[]) =>
  spans.map(({ attributes }) => attributes["db.query.text"]).join("\n");

describe("a donation that is paid in a sampled trace", () => {
  it("is one trace: write, statements, claim, attempt, record, and the retry of another process", async () => {
    const spans = () => ofTrace(CALLER.traceId);
    /** Tells whether the spans of a call that recorded an attempt are here. A busy machine may repeat the call. */
    const isRecorded = (attempt: ReceivedSpan) =>
      named(below(spans(), attempt), "record")
        .flatMap((record) => named(below(spans(), record), RECORD))
        .some((call) => namesOf(below(spans(), call)).includes("activity-core SELECT"));
    // Each process sends its spans every few seconds. A call that records an attempt has the last spans of both
    // sides. Once these are here, all are.
    const recorded = () => named(spans(), "attempt").filter(isRecorded);
    await expect.poll(() => recorded().length, { timeout: 30_000 }).toBe(2);
    const [pay] = named(spans(), PAY);
    expect(pay).toMatchObject({ service: "activity-core", parentSpanId: CALLER.spanId });
    const steps = below(spans(), pay);
    expect(namesOf(steps).toSorted()).toEqual([
      ...["activity-core claim", "activity-core commit"],
      ...["activity-deliveries attempt", "activity-deliveries attempt"],
    ]);
    const [commit] = named(steps, "commit");
    const isStatement = ({ name }: ReceivedSpan) => name !== "wait for a connection";
    const statements = below(spans(), commit).filter(isStatement);
    expect(statements.map(({ name }) => name)).toEqual(["SELECT", "UPDATE"]);
    expect(statements[1]?.attributes["db.query.text"]).toContain("INSERT INTO webhook_event");
    const attempts = named(steps, "attempt").map(({ attributes, isFailed }) => [
      ...[attributes["activity.attempt"], attributes["activity.outcome"]],
      ...[attributes["http.response.status_code"], isFailed],
    ]);
    expect(attempts).toEqual([
      [1, "receiver_busy", 503, true],
      [2, "delivered", 200, false],
    ]);
  });

  it("sends the receiver no trace header: the contract names all headers. §6.2", () => {
    const { requests } = trusted.receiver;
    expect(requests).toHaveLength(2);
    for (const { headers } of requests) {
      expect(headers.map(([name]) => name.toLowerCase())).not.toContain("traceparent");
    }
  });
});

it("a client's request is its own trace, through gateway and core, even if the client names another trace", async () => {
  const traceparent = `00-${FOREIGN}-${CALLER.spanId}-01`;
  const authorization = `Bearer ${apiKey}`;
  const direct = client(proto.ActivityService, { authorization, traceparent });
  await direct.listActivities({ limit: 5 });
  const asked = { apiKey, headers: { traceparent } };
  const response = await requestOf(gateway.port, "/api/v1/activity?limit=7", asked);
  expect(response.status).toBe(200);
  const root = "GET /api/v1/activity";
  await expect.poll(() => named(collector.spans, LIST).length, { timeout: 30_000 }).toBe(2);
  await expect.poll(() => named(collector.spans, root).length, { timeout: 30_000 }).toBe(1);
  const [request] = named(collector.spans, root);
  expect(request).toMatchObject({ service: "activity-gateway", parentSpanId: undefined });
  expect(request?.attributes).toMatchObject({ "http.response.status_code": 200 });
  const spans = ofTrace(request?.traceId ?? "");
  expect(namesOf(below(spans, request))).toEqual([
    ...["activity-core admission", `activity-core ${LIST}`],
  ]);
  const [admission, call] = below(spans, request);
  const [count] = below(spans, admission);
  expect(count).toMatchObject({ name: "count requests" });
  expect(textsOf(below(spans, count))).toContain("INSERT INTO rate_window");
  expect(textsOf(below(spans, call))).toContain("FROM activity");
  expect(ofTrace(FOREIGN)).toEqual([]);
});

it("stores the trace of a sampled call, and no trace of an unsampled one", async () => {
  const kept = () =>
    stack.database.query<{ traceparent: string | null }>(
      "SELECT traceparent FROM webhook_event ORDER BY id",
    );
  const [pay] = named(ofTrace(CALLER.traceId), PAY);
  const first = `00-${CALLER.traceId}-${pay?.spanId}-01`;
  expect(await kept()).toEqual([{ traceparent: first }]);
  await donate("00");
  expect(await kept()).toEqual([{ traceparent: first }, { traceparent: null }]);
});

it("shows no id, name, message, URL, key or secret in any span", () => {
  const text = collector.text();
  expect(collector.spans.length).toBeGreaterThan(30);
  expect(hidden.length).toBeGreaterThan(14);
  for (const each of hidden) expect(text).not.toContain(each);
  // SQL could also show a name in hexadecimal.
  expect(text.toLowerCase()).not.toContain(Buffer.from("hidden").toString("hex"));
});
