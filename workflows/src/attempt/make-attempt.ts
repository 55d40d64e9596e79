import type { ReadyAttempt } from "@activity/proto";
import { inSpan } from "@activity/runtime/traces";
import { AttemptOutcome } from "../http/attempt-outcome.ts";
import { deliveryHeaders } from "../http/delivery-request.ts";
import type { AttemptReport, Sender } from "../http/sender.ts";

/** A made attempt. */
export type FinishedAttempt = AttemptReport & {
  /** Milliseconds since 1970. */
  readonly startedAtMs: number;
  /** The header of the attempt's span, if the span is sampled. */
  readonly traceparent?: string | undefined;
};

/**
 * The most that an attempt's timestamp may differ from the clock when the request is sent. Receivers accept five
 * minutes: the other four are for clocks that differ. §6.2
 */
const MAX_AGE_MS = 60_000;

/**
 * Signs and sends one POST. The attempt is a span of the trace that wrote the event, even if that trace is old. The
 * POST carries no trace header: the contract names all headers. `nowMs` gives the timestamp that the receiver sees.
 * §6.2
 *
 * The attempt fails if `nowMs` moves by over a minute before the request is sent, for example because the machine was
 * suspended. The receiver would refuse that timestamp, and a refusal is not retried.
 */
export function makeAttempt(
  sender: Sender,
  ready: ReadyAttempt,
  attempt: number,
  nowMs: () => number,
): Promise<FinishedAttempt> {
  const { url, secret, eventId, payload, standardWebhooks, traceparent: parent } = ready;
  const attributes = { "activity.attempt": attempt };
  return inSpan("attempt", { kind: "client", parent, attributes }, async (span) => {
    const startedAtMs = nowMs();
    const headers = deliveryHeaders({
      eventId,
      attempt,
      timestampSeconds: Math.floor(startedAtMs / 1000),
      body: payload,
      signingSecret: secret,
      standardWebhooks,
    });
    const isStale = () => Math.abs(nowMs() - startedAtMs) > MAX_AGE_MS;
    const report = await sender.attempt({ url, headers, body: payload, isStale });
    span.set({
      "activity.outcome": report.outcome,
      "http.response.status_code": report.status,
    });
    if (report.outcome !== AttemptOutcome.Delivered) span.fail();
    return { ...report, startedAtMs, traceparent: span.traceparent };
  });
}
