import type { OnceStore } from "../once/once-store.ts";
import type { VerifyOptions } from "../verify.ts";
import type { WebhookEvent } from "../webhook-event.ts";
import type { Problem } from "./problem.ts";

/** What every adapter takes. */
export interface ReceiverOptions<Context = unknown> extends VerifyOptions {
  /** Remembers which events were handled. */
  readonly store: OnceStore<Context>;
  /**
   * Does the work for one event, once. What it returns is awaited and not used. Skip real work where
   * `webhookEvent.test` is true, and where `context.stale` is, unless each change counts.
   *
   * The delivery is answered when it settles, and the sender waits 10 seconds: hand long work on.
   */
  readonly handle: (webhookEvent: WebhookEvent, context: Context) => unknown;
  /** The largest body that is read. Default 1 MiB. */
  readonly bodyLimitBytes?: number | undefined;
  /** Told of every delivery that was not answered 204. Default: one line on the console. */
  readonly onProblem?: ((problem: Problem) => void) | undefined;
}

/** More than any event has, and little enough to hold for every request at once. */
export const DEFAULT_BODY_LIMIT_BYTES = 1024 * 1024;
