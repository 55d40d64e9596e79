import { AsyncLocalStorage } from "node:async_hooks";
import { randomBytes } from "node:crypto";
import type * as OpenTelemetry from "@opentelemetry/api";
import type { Sharer, Span, SpanAttributes, Tracer } from "./traces.ts";

/** W3C Trace Context, version 00: trace, span, flags. */
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;
const SAMPLED = 1;
const UNSAMPLED: Span = { traceparent: undefined, set() {}, fail() {} };

/**
 * Creates a tracer upon OpenTelemetry's own. `store` holds the span around whatever runs: sampled, or begun here and not
 * sampled, which those who are called must know too. Of the traces that begin here, `ratio` are sampled, 0 to 1; the
 * others share one name, and cost no more than the draw.
 */
export function createTracer(
  { trace, ROOT_CONTEXT, SpanKind, SpanStatusCode }: typeof OpenTelemetry,
  own: OpenTelemetry.Tracer,
  store: AsyncLocalStorage<unknown>,
  ratio: number,
): Tracer {
  const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT };
  const unsampled = trace.wrapSpanContext({
    ...{ traceId: randomBytes(16).toString("hex"), spanId: randomBytes(8).toString("hex") },
    traceFlags: 0,
  });
  // Entered again and again: a context of its own for each request was half of what not sampling costs. The
  // process has no other store, whose value these would hide.
  const inUnsampled = store.run(unsampled, () => AsyncLocalStorage.snapshot());
  const inNone = store.run(undefined, () => AsyncLocalStorage.snapshot());
  // Only this file puts anything into the store.
  const around = () => store.getStore() as OpenTelemetry.Span | undefined;

  function inSpan<Result>(
    name: string,
    {
      kind,
      parent,
      begins = false,
      attributes,
      links,
    }: Parameters<Tracer["inSpan"]>[1] & {
      readonly links?: OpenTelemetry.Link[];
    },
    work: (span: Span) => Result,
  ): Result {
    const given = parent === undefined ? undefined : contextOf(parent);
    const parentContext = given ?? around()?.spanContext();
    if (parentContext === undefined ? !begins : !isSampled(parentContext)) return work(UNSAMPLED);
    if (parentContext === undefined && Math.random() >= ratio) {
      return inUnsampled(() => work(UNSAMPLED));
    }
    const context =
      parentContext === undefined
        ? ROOT_CONTEXT
        : trace.setSpanContext(ROOT_CONTEXT, parentContext);
    const options = { kind: kind ? kinds[kind] : SpanKind.INTERNAL };
    const span = own.startSpan(
      name,
      { ...options, ...(attributes && { attributes }), ...(links && { links }) },
      context,
    );
    // What an error says may be anybody's text: it is not told.
    const fail = () => void span.setStatus({ code: SpanStatusCode.ERROR });
    const shown: Span = {
      traceparent: textOf(span.spanContext()),
      set: (more: SpanAttributes) => void span.setAttributes(more),
      fail,
    };
    return endWith(
      () => store.run(span, () => work(shown)),
      fail,
      () => span.end(),
    );
  }

  return {
    inSpan,
    together(name, sharers, work) {
      const sampled = sharers.filter((sharer) => sharer !== undefined);
      const [first, ...others] = sampled;
      // Not even part of what happens to be around: that is the caller of one of many.
      if (first === undefined) return inNone(work);
      const links = others.flatMap(({ traceparent }) => {
        const context = contextOf(traceparent);
        return context === undefined ? [] : [{ context }];
      });
      const attributes = { "activity.batch.size": sharers.length };
      return inSpan(name, { parent: first.traceparent, links, attributes }, ({ traceparent }) => {
        if (traceparent !== undefined) for (const other of others) other.linkTo?.(traceparent);
        return work();
      });
    },
    current(): Sharer | undefined {
      const span = around();
      if (span === undefined || !isSampled(span.spanContext())) return undefined;
      return {
        traceparent: textOf(span.spanContext()),
        linkTo(traceparent) {
          const context = contextOf(traceparent);
          if (context !== undefined) span.addLink({ context });
        },
      };
    },
    header() {
      const span = around();
      return span && textOf(span.spanContext());
    },
    start(name, { kind, attributes }) {
      const parent = around();
      if (parent === undefined || !isSampled(parent.spanContext())) return undefined;
      const context = trace.setSpan(ROOT_CONTEXT, parent);
      const options = { kind: kind ? kinds[kind] : SpanKind.INTERNAL };
      const span = own.startSpan(name, { ...options, ...(attributes && { attributes }) }, context);
      return {
        fail: () => void span.setStatus({ code: SpanStatusCode.ERROR }),
        end: () => span.end(),
      };
    },
    store,
  };
}

/** Ends a span when its work is through, at once or when its promise is settled. */
function endWith<Result>(work: () => Result, fail: () => void, end: () => void): Result {
  let result: Result;
  try {
    result = work();
  } catch (error) {
    fail();
    end();
    throw error;
  }
  if (!(result instanceof Promise)) {
    end();
    return result;
  }
  result.then(end, () => {
    fail();
    end();
  });
  return result;
}

function contextOf(traceparent: string): OpenTelemetry.SpanContext | undefined {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & SAMPLED, isRemote: true };
}

function textOf({ traceId, spanId, traceFlags }: OpenTelemetry.SpanContext): string {
  return `00-${traceId}-${spanId}-${isSampled({ traceFlags }) ? "01" : "00"}`;
}

function isSampled({ traceFlags }: Pick<OpenTelemetry.SpanContext, "traceFlags">): boolean {
  return (traceFlags & SAMPLED) === SAMPLED;
}
