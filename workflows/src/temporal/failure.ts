import { Code } from "@connectrpc/connect";
import { TransportError } from "@temporalio/worker";

const NOT_ALLOWED =
  "Temporal does not let this process use the namespace: correct TEMPORAL_NAMESPACE, TEMPORAL_API_KEY or the certificate variables of TEMPORAL_TLS";
/** What to do where waiting does not help, by gRPC code. */
const ADVICE: ReadonlyMap<unknown, string> = new Map([
  [
    Code.NotFound,
    "Temporal has no such namespace: correct TEMPORAL_NAMESPACE, or create the namespace",
  ],
  [Code.PermissionDenied, NOT_ALLOWED],
  [Code.Unauthenticated, NOT_ALLOWED],
]);
const OUT_OF_REACH =
  "Temporal is out of reach or refuses the connection: if that goes on, correct TEMPORAL_ADDRESS, TEMPORAL_API_KEY or TEMPORAL_TLS with its certificate variables";

/** Returns what the log says of a failure of Temporal: its gRPC code, and what the reader can do. */
export function fieldsOfTemporalFailure(cause: unknown): {
  readonly cause: unknown;
  readonly code?: string;
  readonly advice?: string;
} {
  if (!(cause instanceof Error)) return { cause };
  // The connection is made before anything is called, so its failure has no code.
  if (cause instanceof TransportError) return { cause, advice: OUT_OF_REACH };
  const number = "code" in cause && typeof cause.code === "number" ? cause.code : undefined;
  if (number === undefined) return { cause };
  const advice = ADVICE.get(number);
  return { cause, code: Code[number] ?? `${number}`, ...(advice !== undefined && { advice }) };
}
