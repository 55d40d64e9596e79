import type { Log } from "@activity/runtime/log";
import { createGauge, type Metrics } from "@activity/runtime/metrics";
import { ProxyFailure } from "./egress-proxy.ts";
import type { Sender } from "./sender.ts";

/**
 * Counts a sender's attempts: those in flight, and the number and durations of ended ones by outcome. Logs when the
 * egress proxy begins to fail, and when it serves again.
 */
export function measured(sender: Sender, metrics: Metrics, log: Log): Sender {
  let inFlight = 0;
  let isProxyFailing = false;
  const note = metrics.histogram(
    "activity_attempt_duration_seconds",
    "Attempts that were made, by outcome: each from the look-up of the name to the end of the answer.",
    ["outcome"],
  );
  const countFailure = metrics.counter(
    "activity_egress_proxy_failures_total",
    "Attempts that were not made because the egress proxy failed: each is tried again, and uses up no attempt.",
    [],
  );
  const help = "Attempts that were begun and have not ended.";
  createGauge(metrics, "activity_attempts_in_flight", help, () => inFlight);
  return {
    async attempt(request) {
      inFlight += 1;
      try {
        const report = await sender.attempt(request);
        note(report.durationMs / 1000, report.outcome);
        // Only a status proves that the proxy served. Attempts without one may have ended before they asked the proxy,
        // or while it hung.
        if (isProxyFailing && report.status !== undefined) {
          log.info("the egress proxy serves again");
          isProxyFailing = false;
        }
        return report;
      } catch (error) {
        if (error instanceof ProxyFailure) {
          countFailure();
          if (!isProxyFailing) {
            // The log leaves out the messages of causes, so this one is logged as the reason. It holds no address.
            const { message: reason } = error;
            log.error("the egress proxy fails: attempts wait", { reason, cause: error });
          }
          isProxyFailing = true;
        }
        throw error;
      } finally {
        inFlight -= 1;
      }
    },
    close: sender.close,
  };
}
