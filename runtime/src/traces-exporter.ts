import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as wait } from "node:timers/promises";
import type { Log } from "./log.ts";
import { installTracer, type TraceConfig } from "./traces.ts";
import { createTracer } from "./traces-spans.ts";

/** What is left of a stop for spans that were not sent yet; a collector that hangs holds up nobody for longer. */
const FLUSH_WITHIN_MS = 3_000;
/** `SUCCESS` of OpenTelemetry's results. */
const SENT = 0;

/** Traces that are sent. */
export type OpenTraces = {
  /** Sends what was not sent yet, and makes no more spans. */
  close(): Promise<void>;
};

/**
 * Makes the spans of this process and sends the sampled ones to a collector, in the background and in batches; where
 * there is no configuration, nothing is loaded. A collector that is away costs spans and nothing else: the log says so
 * once. `serviceName` is that of the process where the configuration gives none.
 */
export async function openTraces(
  config: TraceConfig | undefined,
  serviceName: string,
  log: Log,
): Promise<OpenTraces> {
  if (config === undefined) return { close: async () => undefined };
  const [api, sdk, { OTLPTraceExporter }, { resourceFromAttributes }] = await Promise.all([
    import("@opentelemetry/api"),
    import("@opentelemetry/sdk-trace"),
    import("@opentelemetry/exporter-trace-otlp-http"),
    import("@opentelemetry/resources"),
  ]);
  const exporter = new OTLPTraceExporter({ url: `${config.endpoint}/v1/traces` });
  let isRefused = false;
  const telling = {
    export(
      spans: Parameters<typeof exporter.export>[0],
      done: Parameters<typeof exporter.export>[1],
    ) {
      exporter.export(spans, (result) => {
        const refused = result.code !== SENT;
        if (refused && !isRefused) log.warn("traces are lost: the collector does not take them");
        if (!refused && isRefused) log.info("the collector takes traces again");
        isRefused = refused;
        done(result);
      });
    },
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
  };
  const provider = new sdk.TracerProvider({
    resource: resourceFromAttributes({ "service.name": config.serviceName ?? serviceName }),
    sampler: new sdk.AlwaysOnSampler(),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter: telling })],
  });
  const uninstall = installTracer(
    createTracer(api, provider.getTracer("activity"), new AsyncLocalStorage(), config.ratio),
  );
  return {
    async close() {
      uninstall();
      const flushed = new AbortController();
      const late = wait(FLUSH_WITHIN_MS, undefined, { signal: flushed.signal, ref: false });
      await Promise.race([provider.shutdown(), late]).catch(() => undefined);
      flushed.abort();
      late.catch(() => undefined);
    },
  };
}
