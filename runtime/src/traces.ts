import type { AsyncLocalStorage } from "node:async_hooks";
import type { Environment, Problem } from "./environment.ts";

/**
 * A span's attributes, with OpenTelemetry's names: numbers, and texts from closed sets. Never an account, an id, a URL,
 * an address or anything that a client sent.
 */
export type SpanAttributes = Readonly<Record<string, string | number | undefined>>;

/** A span's kind, trace and attributes. */
export type SpanOptions = {
  /** `server` if the work answers a call, `client` if it makes one; internal by default. */
  readonly kind?: "server" | "client";
  /** W3C's `traceparent` of the parent span; by default the span around it. */
  readonly parent?: string | undefined;
  /** Whether a span without a parent begins a trace, sampled or not. By default such a span is not made. */
  readonly begins?: boolean;
  /** When the work began, in milliseconds of `performance.now()`; by default when the span is made. */
  readonly startedMs?: number | undefined;
  readonly attributes?: SpanAttributes;
};

/** A span while its work runs. */
export type Span = {
  /** W3C's `traceparent`; `undefined` when the span is not sampled. */
  readonly traceparent: string | undefined;
  set(attributes: SpanAttributes): void;
  /** Marks the work as failed. Work that throws is always marked. */
  fail(): void;
};

/** A sampled span whose caller ends it. */
export type OpenSpan = Pick<Span, "fail"> & { end(): void };

/** A sampled span that shares work with others. */
export type Sharer = {
  readonly traceparent: string;
  /** Links the span to another one. Absent once the span has ended. */
  readonly linkTo?: (traceparent: string) => void;
};

/** Makes spans. `openTraces` of `traces-exporter.ts` installs it. */
export type Tracer = {
  inSpan<Result>(name: string, options: SpanOptions, work: (span: Span) => Result): Result;
  together<Result>(
    name: string,
    sharers: readonly (Sharer | undefined)[],
    work: () => Result,
  ): Result;
  current(): Sharer | undefined;
  header(): string | undefined;
  /** Begins a child of the current span. The caller ends it. Returns `undefined` if the current span is not sampled. */
  start(name: string, options: Pick<SpanOptions, "kind" | "attributes">): OpenSpan | undefined;
  /** Holds the current span. Diagnostics channels can bind to it. */
  readonly store: AsyncLocalStorage<unknown>;
};

const NO_SPAN: Span = { traceparent: undefined, set() {}, fail() {} };
let installed: Tracer | undefined;

/** Installs the tracer of this process, in place of an earlier one. Returns a function that removes it. */
export function installTracer(tracer: Tracer): () => void {
  installed = tracer;
  return () => {
    if (installed === tracer) installed = undefined;
  };
}

/** Returns the installed tracer; `undefined` if traces are off. */
export function tracer(): Tracer | undefined {
  return installed;
}

/** Runs work inside a span, which ends with the work. */
export function inSpan<Result>(
  name: string,
  options: SpanOptions,
  work: (span: Span) => Result,
): Result {
  return installed === undefined ? work(NO_SPAN) : installed.inSpan(name, options, work);
}

/**
 * Runs shared work as one span in the trace of the first sampled sharer. This span and those of the other sharers link
 * to each other. If no sharer is sampled, there is no span.
 */
export function together<Result>(
  name: string,
  sharers: readonly (Sharer | undefined)[],
  work: () => Result,
): Result {
  return installed === undefined ? work() : installed.together(name, sharers, work);
}

/** Returns the span around the caller, if it is sampled. */
export function currentSpan(): Sharer | undefined {
  return installed?.current();
}

/** Returns W3C's `traceparent` header for a call: the span around it, sampled or not. */
export function currentTraceparent(): string | undefined {
  return installed?.header();
}

/** Where traces are sent, and which part of them. */
export type TraceConfig = {
  /** The base URL of a collector that takes OTLP over HTTP. */
  readonly endpoint: string;
  /** The fraction of traces that is sampled, 0 to 1. */
  readonly ratio: number;
  /** The service's name in traces. `undefined` means the process's default. */
  readonly serviceName: string | undefined;
};

/** One in a hundred, to limit the cost of tracing. */
const DEFAULT_RATIO = "0.01";
const SAMPLER = "parentbased_traceidratio";

/** Reads OpenTelemetry's variables. Returns `undefined` if no endpoint is given. Reports wrong ones. */
export function readTraceConfig(env: Environment, problem: Problem): TraceConfig | undefined {
  const text = env.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (!text) return undefined;
  // The exporter's path is appended, so nothing may follow the URL's own path.
  const endpoint = URL.parse(text)?.href ?? "";
  if (!/^https?:[^?#]+$/.test(endpoint)) {
    problem(
      "OTEL_EXPORTER_OTLP_ENDPOINT must be an http:// or https:// URL without query or fragment.",
    );
  }
  if ((env.OTEL_TRACES_SAMPLER || SAMPLER) !== SAMPLER) {
    problem(`OTEL_TRACES_SAMPLER must be ${SAMPLER}.`);
  }
  const ratio = env.OTEL_TRACES_SAMPLER_ARG || DEFAULT_RATIO;
  if (!/^(0|1|0?\.\d+|1\.0+)$/.test(ratio)) {
    problem(
      "OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1 in decimal digits, such as 0.01.",
    );
  }
  const serviceName = env.OTEL_SERVICE_NAME || undefined;
  return { endpoint: endpoint.replace(/\/+$/, ""), ratio: Number(ratio), serviceName };
}
