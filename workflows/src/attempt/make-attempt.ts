import type { ReadyAttempt } from "@activity/proto";
import { deliveryHeaders } from "../http/delivery-request.ts";
import type { AttemptReport, Sender } from "../http/sender.ts";

/** An attempt that was made. */
export type FinishedAttempt = Omit<AttemptReport, "isRetried"> & {
  /** Milliseconds since 1970. */
  readonly startedAtMs: number;
};

/** Signs and sends one POST. `nowMs` is the clock that the receiver sees in its timestamp. §6.2 */
export async function makeAttempt(
  sender: Sender,
  { url, secret, eventId, payload, standardWebhooks }: ReadyAttempt,
  attempt: number,
  nowMs: () => number,
): Promise<FinishedAttempt> {
  const startedAtMs = nowMs();
  const headers = deliveryHeaders({
    eventId,
    attempt,
    timestampSeconds: Math.floor(startedAtMs / 1000),
    body: payload,
    signingSecret: secret,
    standardWebhooks,
  });
  const report = await sender.attempt({ url, headers, body: payload });
  return { ...report, startedAtMs };
}
