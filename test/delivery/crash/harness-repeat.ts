import { setTimeout as wait } from "node:timers/promises";
import { Code, ConnectError } from "@connectrpc/connect";

/** An answer, and how often its call was made before without one. */
export type Acknowledged<Answer> = { readonly answer: Answer; readonly callsRepeated: number };

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
  for (let callsRepeated = 0; ; callsRepeated++) {
    try {
      return { answer: await call(), callsRepeated };
    } catch (error) {
      if (!(error instanceof ConnectError) || REFUSALS.has(error.code)) throw error;
      await wait(PAUSE_MS);
    }
  }
}
