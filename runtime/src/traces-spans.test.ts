import { AsyncLocalStorage } from "node:async_hooks";
import * as api from "@opentelemetry/api";
import {
  InMemorySpanExporter,
  SimpleSpanProcessor,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { expect, it } from "vitest";
import { createTracer } from "./traces-spans.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const sampled = (span: string) => `00-${TRACE}-${span}-01`;
const unsampled = (span: string) => `00-${TRACE}-${span}-00`;
const FIRST = "b7ad6b7169203331";

/** Creates a tracer on OpenTelemetry's own. It samples the share `ratio` of the traces that begin here. */
function start(ratio = 1) {
  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  const tracer = createTracer(api, provider.getTracer("test"), new AsyncLocalStorage(), ratio);
  return { tracer, spans: () => exporter.getFinishedSpans() };
}

it("makes a span part of its given parent, else of the span around it, else of a new trace if it may", async () => {
  const { tracer, spans } = start();
  await tracer.inSpan("outer", { parent: sampled(FIRST) }, async () => {
    await Promise.resolve();
    tracer.inSpan("inner", { begins: true }, () => undefined);
  });
  tracer.inSpan("root", { begins: true }, () => undefined);
  tracer.inSpan("none", {}, () => undefined);
  const [inner, outer, root] = spans();
  expect(spans().map(({ name }) => name)).toEqual(["inner", "outer", "root"]);
  expect(outer?.spanContext().traceId).toBe(TRACE);
  expect(outer?.parentSpanContext?.spanId).toBe(FIRST);
  expect(inner?.parentSpanContext?.spanId).toBe(outer?.spanContext().spanId);
  expect(root?.parentSpanContext).toBeUndefined();
});

it("passes an unsampled trace on to calls, and makes no span in it", () => {
  const { tracer, spans } = start(0);
  tracer.inSpan("root", { begins: true }, ({ traceparent }) => {
    expect(traceparent).toBeUndefined();
    expect(tracer.current()).toBeUndefined();
    expect(tracer.header()).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    tracer.inSpan("inner", { begins: true }, () => undefined);
  });
  tracer.inSpan("called", { parent: unsampled(FIRST), begins: true }, () => undefined);
  expect(spans()).toEqual([]);
});

it.each([
  "",
  "geheim",
  `00-${"0".repeat(32)}-${FIRST}-01`,
  `00-${TRACE}-${"0".repeat(16)}-01`,
  `01-${TRACE}-${FIRST}-01`,
  `00-${TRACE}-${FIRST}-01 `,
])("ignores an invalid header: %j", (parent) => {
  const { tracer, spans } = start();
  tracer.inSpan("root", { parent, begins: true }, () => undefined);
  expect(spans()[0]?.parentSpanContext).toBeUndefined();
});

it("marks work that throws as failed, without its error's message", async () => {
  const { tracer, spans } = start();
  const fail = () => Promise.reject(new Error("geheim"));
  await expect(tracer.inSpan("root", { begins: true }, fail)).rejects.toThrow("geheim");
  const [span] = spans();
  expect(span?.status).toEqual({ code: api.SpanStatusCode.ERROR });
  expect(span?.events).toEqual([]);
});

it("makes shared work part of the first sharer's trace, and links it with the others both ways", () => {
  const { tracer, spans } = start();
  let inTrace: string | undefined;
  tracer.inSpan("other", { begins: true }, () => {
    const other = tracer.current();
    tracer.together("shared", [undefined, { traceparent: sampled(FIRST) }, other], () => {
      inTrace = tracer.current()?.traceparent;
    });
  });
  const [shared, other] = spans();
  expect(inTrace).toBe(sampled(shared?.spanContext().spanId ?? ""));
  expect(shared?.parentSpanContext?.spanId).toBe(FIRST);
  expect(shared?.attributes).toEqual({ "activity.batch.size": 3 });
  const linkedTo = (span: typeof shared) => span?.links.map(({ context }) => context.spanId);
  expect(linkedTo(shared)).toEqual([other?.spanContext().spanId]);
  expect(linkedTo(other)).toEqual([shared?.spanContext().spanId]);
});

it("makes shared work part of no trace when none of its callers is sampled", () => {
  const { tracer, spans } = start();
  tracer.inSpan("root", { begins: true }, () =>
    tracer.together("shared", [undefined], () => {
      expect(tracer.current()).toBeUndefined();
      tracer.inSpan("statement", {}, () => undefined);
    }),
  );
  expect(spans().map(({ name }) => name)).toEqual(["root"]);
});
