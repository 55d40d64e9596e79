import { createRepeats, type Log } from "@activity/runtime/log";
import { redact } from "@activity/runtime/redaction";
import { Code, ConnectError } from "@connectrpc/connect";
import { TransportError } from "@temporalio/worker";

/** The workflows were not bundled. `reason` says why, without the compiler's stack. */
export class WorkflowBundleError extends Error {
  override readonly name = "WorkflowBundleError";
  readonly reason: string;

  constructor(cause: unknown) {
    super("The workflows cannot be bundled.", { cause });
    this.reason = reasonOf(cause);
  }
}

function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return `${cause}`;
  // The compiler runs in another process: its error is in that process's output.
  const lines = "stderr" in cause ? `${cause.stderr}`.split("\n") : [];
  const thrown = lines.find((line) => /^\w*Error\b/.test(line));
  if (thrown !== undefined) return thrown;
  if ("signal" in cause && cause.signal) return `The compiler was ended by ${cause.signal}.`;
  return cause.message;
}

const NOT_ALLOWED =
  "Temporal does not let this process use the namespace: correct TEMPORAL_NAMESPACE, TEMPORAL_API_KEY or the certificate variables of TEMPORAL_TLS";
/** Advice by gRPC code, about failures that do not end by themselves: the operator must act. */
const ADVICE: ReadonlyMap<unknown, string> = new Map([
  [
    Code.NotFound,
    "Temporal has no such namespace: correct TEMPORAL_NAMESPACE, or create the namespace",
  ],
  [Code.PermissionDenied, NOT_ALLOWED],
  [Code.Unauthenticated, NOT_ALLOWED],
]);
const OUT_OF_REACH =
  "Temporal is out of reach or refuses the connection: if this continues, correct TEMPORAL_ADDRESS, TEMPORAL_API_KEY or TEMPORAL_TLS with its certificate variables";

const CREDENTIAL_REFUSED =
  "the core refuses CORE_CREDENTIAL: replace it with one that has delivery.dispatch for all accounts";
/** The core's codes for a credential that is unknown, expired or revoked, or lacks the permission. */
const REFUSALS: ReadonlySet<Code> = new Set([Code.Unauthenticated, Code.PermissionDenied]);

/**
 * Returns the log's fields for a failure of Temporal or the core: its gRPC code, and advice for the operator. If the
 * workflows were not bundled, returns the reason.
 */
export function fieldsOfFailure(cause: unknown): {
  readonly cause: unknown;
  readonly code?: string;
  readonly advice?: string;
  readonly reason?: string;
} {
  if (!(cause instanceof Error)) return { cause };
  if (cause instanceof WorkflowBundleError) return { cause, reason: cause.reason };
  // Only calls to the core fail with this class. `ADVICE` is about Temporal, so it must not apply to the core's codes.
  if (cause instanceof ConnectError) {
    const advice = REFUSALS.has(cause.code) ? { advice: CREDENTIAL_REFUSED } : {};
    return { cause, code: Code[cause.code], ...advice };
  }
  // A failure to connect comes before any call, so it has no gRPC code.
  if (cause instanceof TransportError) return { cause, advice: OUT_OF_REACH };
  const number = "code" in cause && typeof cause.code === "number" ? cause.code : undefined;
  if (number === undefined) return { cause };
  const advice = ADVICE.get(number);
  return { cause, code: Code[number] ?? `${number}`, ...(advice !== undefined && { advice }) };
}

/**
 * Creates a log of failures that writes each line at most once in ten seconds. Failures of another class or code, or
 * from another place in the code, are other lines.
 */
export function createFailureLog(
  log: Log,
  nowMs: () => number,
): (message: string, cause: unknown) => void {
  const isRepeated = createRepeats(nowMs);
  return (message, cause) => {
    const fields = fieldsOfFailure(cause);
    if (!isRepeated(JSON.stringify([message, fields], redact))) log.error(message, fields);
  };
}
