import { AsyncLocalStorage } from "node:async_hooks";
import { randomBytes } from "node:crypto";
import type * as OpenTelemetry from "@opentelemetry/api";
import type { Sharer, Span, SpanAttributes, SpanOptions, Tracer } from "./traces.ts";

type NewSpan = SpanOptions & { readonly links?: OpenTelemetry.Link[] };

/** W3C Trace Context, version 00: trace, span, flags. */
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;
const SAMPLED = 1;
const UNSAMPLED: Span = { traceparent: undefined, set() {}, fail() {} };

/**
 * Creates a tracer on top of OpenTelemetry's. `store` holds the span around the running code if it is sampled. It also
 * holds a span of an unsampled trace that began here, because called processes must know that the trace is unsampled.
 * `ratio` is the sampled part of the traces that begin here, 0 to 1. All unsampled ones share one trace id, and cost
 * only the random draw.
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
  // These two contexts are reused: a new one for each request was half the cost of an unsampled request. They hide the
  // values of other stores, which are Temporal's. So work inside must not read an activity's `Context`. Calls of a
  // Temporal client inside do not get the options of an outer `withDeadline`, `withMetadata` or `withAbortSignal`.
  const inUnsampled = store.run(unsampled, () => AsyncLocalStorage.snapshot());
  const inNone = store.run(undefined, () => AsyncLocalStorage.snapshot());
  // The store holds only spans, because only this file writes to it.
  const around = () => store.getStore() as OpenTelemetry.Span | undefined;

  /** Begins a span below `parent`, or without one a new trace. */
  function begin(name: string, parent: OpenTelemetry.SpanContext | undefined, options: NewSpan) {
    const { kind, attributes, links, startedMs } = options;
    const context = parent ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT;
    const span = own.startSpan(
      name,
      {
        kind: kind ? kinds[kind] : SpanKind.INTERNAL,
        ...(attributes && { attributes }),
        ...(links && { links }),
        ...(startedMs !== undefined && { startTime: startedMs }),
      },
      context,
    );
    // An error's message may hold a client's text, so spans do not have it.
    const fail = () => void span.setStatus({ code: SpanStatusCode.ERROR });
    return { span, fail, end: () => span.end(performance.now()) };
  }

  function inSpan<Result>(name: string, options: NewSpan, work: (span: Span) => Result): Result {
    const { parent, begins = false } = options;
    const explicit = parent === undefined ? undefined : contextOf(parent);
    const parentContext = explicit ?? around()?.spanContext();
    if (parentContext === undefined ? !begins : !isSampled(parentContext)) return work(UNSAMPLED);
    if (parentContext === undefined && Math.random() >= ratio) {
      return inUnsampled(() => work(UNSAMPLED));
    }
    const { span, fail, end } = begin(name, parentContext, options);
    const shown: Span = {
      traceparent: textOf(span.spanContext()),
      set: (more: SpanAttributes) => void span.setAttributes(more),
      fail,
    };
    return endWith(() => store.run(span, () => work(shown)), fail, end);
  }

  return {
    inSpan,
    together(name, sharers, work) {
      const sampled = sharers.filter((sharer) => sharer !== undefined);
      const [first, ...others] = sampled;
      // No sharer is sampled, so the work runs outside of any span: the span around this code belongs to only one
      // sharer.
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
    start(name, options) {
      const parent = around()?.spanContext();
      return parent && isSampled(parent) ? begin(name, parent, options) : undefined;
    },
    store,
  };
}

/** Ends a span with its work: at once, or when its promise settles. */
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
