import type { DispatchService } from "@activity/proto";
import { type Timing, wait } from "@activity/runtime/timing";
import type { Client } from "@connectrpc/connect";

const ANSWER_WITHIN_MS = 5_000;
const ASK_EVERY_MS = 10_000;
/** After this many calls in a row without an answer, the core is away and not just restarting. */
const MISSED = 3;

/** How to check whether the core answers. */
export type CoreContact = {
  readonly dispatch: Pick<Client<typeof DispatchService>, "getInstallation">;
  readonly timing: Timing;
};

/**
 * Runs `work` from the core's first answer until the core is away or `signal` is aborted. Then this aborts `stop` and
 * waits for the work. Rejects when there is no first answer, or when the work rejects.
 *
 * Temporal gives a workflow to the worker that has it in its cache. A worker without a core would therefore delay
 * retries that other workers can make.
 */
export async function whileCoreAnswers(
  { dispatch, timing }: CoreContact,
  signal: AbortSignal,
  work: (installationId: string, stop: AbortSignal) => Promise<void>,
): Promise<void> {
  const ask = () => dispatch.getInstallation({}, { timeoutMs: ANSWER_WITHIN_MS, signal });
  const { id } = await ask();
  const ending = new AbortController();
  const end = () => ending.abort();
  const stop = AbortSignal.any([signal, ending.signal]);
  const working = work(id, stop).finally(end);
  // A failure of the work is handled below. Until then it must not count as unhandled, which would end the process.
  working.catch(() => undefined);
  for (let missed = 0; missed < MISSED; ) {
    await wait(timing, ASK_EVERY_MS, stop);
    if (stop.aborted) break;
    missed = await ask().then(
      () => 0,
      () => missed + 1,
    );
  }
  end();
  await working;
}
