import type { OnceStore } from "../once/once-store.ts";
import type { VerifyOptions } from "../verify.ts";
import type { WebhookEvent } from "../webhook-event.ts";
import type { Problem } from "./problem.ts";

/** The options of every adapter. */
export interface ReceiverOptions<Context = unknown> extends VerifyOptions {
  /** Remembers which events were handled. */
  readonly store: OnceStore<Context>;
  /**
   * Does the work for one event, once. The receiver awaits the result and ignores it. Do no real work if
   * `webhookEvent.test` is true. If `context.stale` is true, a newer event of the same type and record was handled:
   * keep the amounts and status of the newer event.
   *
   * The receiver answers when this settles. The sender waits 10 seconds, so put long work into a queue.
   */
  readonly handle: (webhookEvent: WebhookEvent, context: Context) => unknown;
  /** The largest body that is read. Default 1 MiB. */
  readonly bodyLimitBytes?: number | undefined;
  /**
   * Called for every delivery that was not answered 204. The default logs a `VerificationError` as one line, and any
   * other error as its own stack and its cause's stack.
   */
  readonly onProblem?: ((problem: Problem) => unknown) | undefined;
}

/**
 * The default of `bodyLimitBytes`: larger than any event, and small enough to hold in memory for every request at once.
 */
export const DEFAULT_BODY_LIMIT_BYTES = 1024 * 1024;
