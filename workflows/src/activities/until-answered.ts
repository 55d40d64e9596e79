import { setTimeout as wait } from "node:timers/promises";
import { Code, ConnectError } from "@connectrpc/connect";

/** Together under the half minute that an attempt's own ten seconds leave of its activity's minute. */
const PAUSES_MS = [100, 400, 1_500, 5_000, 15_000];
/** Canceled and aborted are what the transport calls a stream that broke off when the core died. */
const TEMPORARY: ReadonlySet<Code> = new Set([
  Code.Unavailable,
  Code.Canceled,
  Code.Aborted,
  Code.Unknown,
]);

/**
 * Makes a call that may be made again until the core answers it, for half a minute: while the core starts
 * anew, an attempt that was made is recorded late rather than made twice.
 */
export async function untilAnswered<Answer>(call: () => Promise<Answer>): Promise<Answer> {
  for (const pauseMs of PAUSES_MS) {
    try {
      return await call();
    } catch (error) {
      if (!TEMPORARY.has(ConnectError.from(error).code)) throw error;
      await wait(pauseMs);
    }
  }
  return call();
}
