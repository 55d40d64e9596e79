import type { Metrics } from "@activity/runtime/metrics";
import type { Sender } from "./sender.ts";

/** Counts the attempts of a sender: those in flight, and by how they ended how many there were and how long each took. */
export function measured(sender: Sender, metrics: Metrics): Sender {
  let inFlight = 0;
  const note = metrics.histogram(
    "activity_attempt_duration_seconds",
    "Attempts that were made, by outcome: each from the look-up of the name to the end of the answer.",
    ["outcome"],
  );
  const family = {
    name: "activity_attempts_in_flight",
    help: "Attempts that were begun and have not ended.",
    labels: [],
  };
  metrics.gauges([family], () => [[{ labels: [], value: inFlight }]]);
  return {
    async attempt(request) {
      inFlight += 1;
      try {
        const report = await sender.attempt(request);
        note(report.durationMs / 1000, report.outcome);
        return report;
      } finally {
        inFlight -= 1;
      }
    },
    close: sender.close,
  };
}
