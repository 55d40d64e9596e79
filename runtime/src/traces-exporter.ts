import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as wait } from "node:timers/promises";
import type { Log } from "./log.ts";
import { installTracer, type TraceConfig } from "./traces.ts";
import { createTracer } from "./traces-spans.ts";

/** How long a stop waits for the last spans to be sent, even if the collector hangs. */
const FLUSH_WITHIN_MS = 3_000;
/** `SUCCESS` of OpenTelemetry's results. */
const SENT = 0;

/** Open traces. */
export type OpenTraces = {
  /** Sends the last spans, and makes no more. */
  close(): Promise<void>;
};

/**
 * Makes the spans of this process, and sends sampled ones to a collector in the background, in batches. Without a
 * configuration nothing is loaded. While the collector is away, only spans are lost, and the log says so once.
 * `serviceName` is the default if the configuration has none.
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
  const loggingExporter = {
    export(
      spans: Parameters<typeof exporter.export>[0],
      done: Parameters<typeof exporter.export>[1],
    ) {
      exporter.export(spans, (result) => {
        const refused = result.code !== SENT;
        if (refused && !isRefused) log.warn("traces are lost: the collector does not accept them");
        if (!refused && isRefused) log.info("the collector accepts traces again");
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
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter: loggingExporter })],
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
