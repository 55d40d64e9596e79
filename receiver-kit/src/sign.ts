import { bytesFromRawBody, type RawBody } from "./raw-body.ts";
import { macFromSecret } from "./signing-secret.ts";

/** One attempt to deliver an event. */
export interface AttemptToSign {
  /** The whole secret, with `whsec_`. */
  readonly secret: string;
  readonly eventId: string;
  /** The exact bytes of the body. */
  readonly body: RawBody;
  /** Unix time of this attempt in whole seconds. */
  readonly timestampSeconds: number;
}

/** Returns the `Service-Signature` of an attempt: `v1=` and 64 hexadecimal characters. */
export async function sign(attempt: AttemptToSign): Promise<string> {
  const { secret, eventId, body, timestampSeconds } = attempt;
  if (!Number.isSafeInteger(timestampSeconds) || timestampSeconds < 0) {
    throw new RangeError("timestampSeconds is Unix time in whole seconds");
  }
  const prefix = `${timestampSeconds}.${eventId}.`;
  return `v1=${await macFromSecret(secret).hex(prefix, bytesFromRawBody(body))}`;
}

/** Returns all headers of an attempt. `attemptNumber` starts at 1. */
export async function signedHeaders(
  attempt: AttemptToSign,
  attemptNumber = 1,
): Promise<Record<string, string>> {
  return {
    "Content-Type": "application/json",
    "Service-Event-Id": attempt.eventId,
    "Service-Timestamp": String(attempt.timestampSeconds),
    "Service-Attempt": String(attemptNumber),
    "Service-Signature": await sign(attempt),
  };
}
