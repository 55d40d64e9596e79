import type { LocalActivityOptions } from "@temporalio/workflow";

/**
 * How attempts run: beside the workflow, which costs the engine nothing. One that failed here, because the
 * core was out of reach or the worker was killed, is run again until its outcome is recorded: what was
 * recorded before is not sent again.
 */
export const ATTEMPT_OPTIONS: LocalActivityOptions = {
  startToCloseTimeout: "1 minute",
  retry: { initialInterval: "1 second", backoffCoefficient: 2, maximumInterval: "1 minute" },
};
