import { ActivityService } from "@activity/proto";
import { beforeAll, describe, expect, it } from "vitest";
import { requestOf } from "../harness/http.ts";
import { useFolder, useStarted } from "../harness/use-started.ts";
import { runModule } from "./harness-modules.ts";
import { type ReceivedSpan, startSpanReceiver } from "./harness-spans.ts";
import { CALLER, donate, retryInTrace, startTracedProduct } from "./harness-traced-product.ts";

const PAY = "activity.ingest.v1.DonationService/PayDonation";
const LIST = "activity.read.v1.ActivityService/ListActivities";
const RECORD = "activity.dispatch.v1.DispatchService/RecordAttempts";
/** The trace of a client that tries to decide what is sampled here. */
const FOREIGN = "4bf92f3577b34da6a3ce929d0e0e4736";

const folder = useFolder("traces");
const collector = useStarted(startSpanReceiver);
const product = useStarted(() => startTracedProduct(folder, collector.endpoint));
let story: Awaited<ReturnType<typeof retryInTrace>>;
beforeAll(async () => {
  story = await retryInTrace(product);
});

const ofTrace = (traceId: string) => collector.spans.filter((span) => span.traceId === traceId);
const named = (spans: readonly ReceivedSpan[], name: string) =>
  spans.filter((span) => span.name === name);
const below = (spans: readonly ReceivedSpan[], parent: ReceivedSpan | undefined) =>
  spans.filter(({ parentSpanId }) => parentSpanId === parent?.spanId);
const namesOf = (spans: readonly ReceivedSpan[]) =>
  spans.map(({ service, name }) => `${service} ${name}`);
/** The texts of the statements. */
const textsOf = (spans: readonly ReceivedSpan[]) =>
  spans.map(({ attributes }) => attributes["db.query.text"]).join("\n");

describe("a donation that is paid in a sampled trace", () => {
  it("is one trace: write, statements, claim, attempt, record, and the retry of another process", async () => {
    const spans = () => ofTrace(CALLER.traceId);
    // Each process sends its spans every few seconds. Once the last span of both sides has arrived, all have.
    const last = ["attempt", "record", RECORD];
    await expect
      .poll(() => last.map((name) => named(spans(), name).length), { timeout: 30_000 })
      .toEqual([2, 2, 2]);
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
    for (const attempt of named(steps, "attempt")) {
      const [record] = below(spans(), attempt);
      const [call] = below(spans(), record);
      expect([record?.name, call?.service, call?.name]).toEqual([
        "record",
        "activity-core",
        RECORD,
      ]);
      expect(below(spans(), call).map(({ name }) => name)).toContain("SELECT");
    }
  });

  it("sends the receiver no trace header: the contract names all headers. §6.2", () => {
    const { requests } = product.receiver;
    expect(requests).toHaveLength(2);
    for (const { headers } of requests) {
      expect(headers.map(([name]) => name.toLowerCase())).not.toContain("traceparent");
    }
  });
});

it("a client's request is its own trace, through gateway and core, whatever trace the client names", async () => {
  const traceparent = `00-${FOREIGN}-${CALLER.spanId}-01`;
  const authorization = `Bearer ${story.apiKey}`;
  const direct = product.client(ActivityService, { authorization, traceparent });
  await direct.listActivities({ limit: 5 });
  const response = await requestOf(product.gatewayPort, "/api/v1/activity?limit=7", {
    apiKey: story.apiKey,
    headers: { traceparent },
  });
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
    product.database.query<{ traceparent: string | null }>(
      "SELECT traceparent FROM webhook_event ORDER BY created_at",
    );
  const [pay] = named(ofTrace(CALLER.traceId), PAY);
  const first = `00-${CALLER.traceId}-${pay?.spanId}-01`;
  expect(await kept()).toEqual([{ traceparent: first }]);
  await donate(product, story.accountId, "00");
  expect(await kept()).toEqual([{ traceparent: first }, { traceparent: null }]);
});

it("shows no id, name, message, URL, key or secret in any span", () => {
  const text = collector.text();
  expect(collector.spans.length).toBeGreaterThan(30);
  expect(story.hidden.length).toBeGreaterThan(14);
  for (const hidden of story.hidden) expect(text).not.toContain(hidden);
  // A name as a span would show it in JSON, in SQL, or both.
  expect(text.toLowerCase()).not.toContain(Buffer.from("hidden").toString("hex"));
});

it("loads OpenTelemetry only where an endpoint is given", async () => {
  const loaded = async (config: string) =>
    Number(
      await runModule(`
        import { registerHooks } from "node:module";
        let loaded = 0;
        registerHooks({
          load(url, context, next) {
            if (url.includes("/@opentelemetry/")) loaded += 1;
            return next(url, context);
          },
        });
        await import("./tools/serve/product.ts");
        const { openTraces } = await import("@activity/runtime/traces-exporter");
        const { close } = await openTraces(${config}, "test", console);
        await close();
        console.log(loaded);
        process.exit();`),
    );
  expect(await loaded("undefined")).toBe(0);
  expect(await loaded('{ endpoint: "http://127.0.0.1:1", ratio: 1 }')).toBeGreaterThan(10);
});
