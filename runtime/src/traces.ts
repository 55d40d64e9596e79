import type { AsyncLocalStorage } from "node:async_hooks";
import type { Environment, Problem } from "./environment.ts";

/**
 * What a span says of itself, by OpenTelemetry's names: numbers, and texts from closed sets. Never an account, an id,
 * a URL, an address or anything that somebody sent.
 */
export type SpanAttributes = Readonly<Record<string, string | number | undefined>>;

/** How a span stands to its trace. */
export type SpanOptions = {
  /** `server` for what answers a call, `client` for what makes one; neither unless given. */
  readonly kind?: "server" | "client";
  /** W3C's `traceparent` of the span that it is part of; the one around it unless given. */
  readonly parent?: string | undefined;
  /** Whether it begins a trace, sampled or not, where it would be part of none; else there is no span then. */
  readonly begins?: boolean;
  readonly attributes?: SpanAttributes;
};

/** A span while its work runs. */
export type Span = {
  /** W3C's `traceparent`; `undefined` when the span is not sampled. */
  readonly traceparent: string | undefined;
  set(attributes: SpanAttributes): void;
  /** Marks the work as failed, as work that throws is anyway. */
  fail(): void;
};

/** A sampled span whose caller ends it. */
export type OpenSpan = Pick<Span, "fail"> & { end(): void };

/** A sampled span that work is done for, which others may share. */
export type Sharer = {
  readonly traceparent: string;
  /** Links the span to another one; absent where it has ended. */
  readonly linkTo?: (traceparent: string) => void;
};

/** What makes spans: `openTraces` of `traces-exporter.ts` installs it. */
export type Tracer = {
  inSpan<Result>(name: string, options: SpanOptions, work: (span: Span) => Result): Result;
  together<Result>(
    name: string,
    sharers: readonly (Sharer | undefined)[],
    work: () => Result,
  ): Result;
  current(): Sharer | undefined;
  header(): string | undefined;
  /** Begins a span that its caller ends, part of the one around it; `undefined` where that is not sampled. */
  start(name: string, options: Pick<SpanOptions, "kind" | "attributes">): OpenSpan | undefined;
  /** The current span, for channels that carry it along. */
  readonly store: AsyncLocalStorage<unknown>;
};

const NO_SPAN: Span = { traceparent: undefined, set() {}, fail() {} };
let installed: Tracer | undefined;

/** Makes all spans of this process from now on, until what it returns is called; the last that is installed counts. */
export function installTracer(tracer: Tracer): () => void {
  installed = tracer;
  return () => {
    if (installed === tracer) installed = undefined;
  };
}

/** What makes spans; `undefined` where traces are off. */
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
 * Runs work that several share as one span of the first sampled one's trace. It and each other's
 * span link to one another. Where none is sampled there is no span.
 */
export function together<Result>(
  name: string,
  sharers: readonly (Sharer | undefined)[],
  work: () => Result,
): Result {
  return installed === undefined ? work() : installed.together(name, sharers, work);
}

/** The span around the caller, if it is sampled. */
export function currentSpan(): Sharer | undefined {
  return installed?.current();
}

/** Returns W3C's header for who is called: which span a call is part of, sampled or not. */
export function currentTraceparent(): string | undefined {
  return installed?.header();
}

/** Where traces are sent, and how many. */
export type TraceConfig = {
  /** The base URL of a collector that takes OTLP over HTTP. */
  readonly endpoint: string;
  /** The part of all traces that is sampled, 0 to 1. */
  readonly ratio: number;
  /** `undefined`: that of the process. */
  readonly serviceName: string | undefined;
};

/** One in a hundred: what the bound on the cost is for. ADR 0046 */
const DEFAULT_RATIO = "0.01";
const SAMPLER = "parentbased_traceidratio";

/** Reads OpenTelemetry's variables; `undefined` where no endpoint is given. Tells `problem` of wrong ones. */
export function readTraceConfig(env: Environment, problem: Problem): TraceConfig | undefined {
  const endpoint = env.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (!endpoint) return undefined;
  if (!URL.canParse(endpoint) || !/^https?:$/.test(new URL(endpoint).protocol)) {
    problem("OTEL_EXPORTER_OTLP_ENDPOINT must be an http:// or https:// URL.");
  }
  if ((env.OTEL_TRACES_SAMPLER || SAMPLER) !== SAMPLER) {
    problem(`OTEL_TRACES_SAMPLER must be ${SAMPLER}.`);
  }
  const ratio = env.OTEL_TRACES_SAMPLER_ARG || DEFAULT_RATIO;
  if (!/^(0|1|0?\.\d{1,9}|1\.0+)$/.test(ratio)) {
    problem("OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1.");
  }
  const serviceName = env.OTEL_SERVICE_NAME || undefined;
  return { endpoint: endpoint.replace(/\/+$/, ""), ratio: Number(ratio), serviceName };
}
