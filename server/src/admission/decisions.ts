import type { Metrics } from "@activity/runtime/metrics";
import type { Admission } from "./admission.ts";

/** Counts the outcome of each request. `unavailable` means that the admission failed. */
export function countDecisions(admission: Admission, metrics: Metrics): Admission {
  const count = metrics.counter(
    "activity_rate_limit_decisions_total",
    "Decisions to admit or refuse, by outcome.",
    ["decision"],
  );
  return {
    ready: admission.ready,
    async admit(request) {
      try {
        const result = await admission.admit(request);
        count(result.kind);
        return result;
      } catch (error) {
        // Does not count a failure after the client left, because it does not mean that the limiter is unavailable.
        if (!request.signal?.aborted) count("unavailable");
        throw error;
      }
    },
    close: () => admission.close(),
  };
}
