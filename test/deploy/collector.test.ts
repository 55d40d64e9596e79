import { afterAll, beforeAll, expect, it } from "vitest";
import { type SpanReceiver, startSpanReceiver } from "../operating/harness-spans.ts";
import { CALLER, tellStory } from "../operating/harness-trace-story.ts";
import { startTracedProduct, type TracedProduct } from "../operating/harness-traced-product.ts";
import { type Collector, startCollector } from "./harness-collector.ts";

const BUILD_WITHIN_MS = 900_000;

let behind: SpanReceiver;
let collector: Collector;
let product: TracedProduct;
beforeAll(async () => {
  behind = await startSpanReceiver();
  collector = await startCollector(behind.endpoint);
  product = await startTracedProduct(collector.endpoint);
}, BUILD_WITHIN_MS);
afterAll(async () => {
  await product?.stop();
  await collector?.stop();
  await behind?.stop();
});

it("a real collector takes the trace of a write and both of its attempts. ADR 0046", async () => {
  await tellStory(product);
  const inTrace = () => behind.spans.filter(({ traceId }) => traceId === CALLER.traceId);
  const seen = () => [...new Set(inTrace().map(({ service, name }) => `${service} ${name}`))];
  await expect
    .poll(seen, { timeout: 30_000 })
    .toEqual(
      expect.arrayContaining([
        "activity-core activity.ingest.v1.DonationService/PayDonation",
        "activity-core commit",
        "activity-core claim",
        "activity-deliveries attempt",
        "activity-deliveries record",
      ]),
    );
  const attempts = () => inTrace().filter(({ name }) => name === "attempt");
  await expect.poll(() => attempts().length, { timeout: 30_000 }).toBe(2);
  expect(attempts().map(({ attributes }) => attributes["activity.outcome"])).toEqual([
    "receiver_busy",
    "delivered",
  ]);
});
