import { setTimeout as wait } from "node:timers/promises";
import { Code, ConnectError } from "@connectrpc/connect";

const PAUSE_MS = 100;
/** Codes of mistakes by the caller. A call that fails with any other code is repeated. */
export const REFUSALS: ReadonlySet<Code> = new Set([
  Code.InvalidArgument,
  Code.NotFound,
  Code.AlreadyExists,
  Code.PermissionDenied,
  Code.FailedPrecondition,
  Code.Unimplemented,
]);

/** Repeats a call until it succeeds, as a caller must if its write may not be lost. Also returns the failures. */
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
