import { setTimeout as wait } from "node:timers/promises";
import { Code, ConnectError } from "@connectrpc/connect";

const PAUSE_MS = 100;
/** Codes of mistakes by the caller. After any other failure the call is repeated. */
export const REFUSALS: ReadonlySet<Code> = new Set([
  Code.InvalidArgument,
  Code.NotFound,
  Code.AlreadyExists,
  Code.PermissionDenied,
  Code.FailedPrecondition,
  Code.Unimplemented,
]);

/** Repeats a call until it succeeds, as a caller must that may not lose it. Also returns the failures before. */
export async function untilAcknowledged<Answer>(call: () => Promise<Answer>) {
  const failures: Code[] = [];
  for (;;) {
    try {
      return { answer: await call(), failures };
    } catch (error) {
      if (!(error instanceof ConnectError) || REFUSALS.has(error.code)) throw error;
      failures.push(error.code);
      await wait(PAUSE_MS);
    }
  }
}
