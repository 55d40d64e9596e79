import { setTimeout as wait } from "node:timers/promises";
import { Code, ConnectError } from "@connectrpc/connect";

/** An answer, and what its call failed with each time it was made before. */
export type Acknowledged<Answer> = { readonly answer: Answer; readonly failures: readonly Code[] };

const PAUSE_MS = 100;
/** Codes of a caller's mistake; whatever else fails may be asked again. */
const REFUSALS: ReadonlySet<Code> = new Set([
  Code.InvalidArgument,
  Code.NotFound,
  Code.AlreadyExists,
  Code.PermissionDenied,
  Code.FailedPrecondition,
  Code.Unimplemented,
]);

/** Makes a call again and again until it is answered, as a caller does who must not lose it. */
export async function untilAcknowledged<Answer>(
  call: () => Promise<Answer>,
): Promise<Acknowledged<Answer>> {
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
