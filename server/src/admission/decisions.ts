import type { Metrics } from "@activity/runtime/metrics";
import type { Admission } from "./admission.ts";

/** Counts what became of each request at an admission; `unavailable`: it could not be asked. */
export function countDecisions(admission: Admission, metrics: Metrics): Admission {
  const count = metrics.counter(
    "activity_rate_limit_decisions_total",
    "Requests that were counted, by what became of them.",
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
        // Who went away does not say that the limiter is.
        if (!request.signal?.aborted) count("unavailable");
        throw error;
      }
    },
    close: () => admission.close(),
  };
}
