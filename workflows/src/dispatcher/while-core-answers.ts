import type { DispatchService } from "@activity/proto";
import { type Timing, wait } from "@activity/runtime/timing";
import type { Client } from "@connectrpc/connect";

const ANSWER_WITHIN_MS = 5_000;
const ASK_EVERY_MS = 10_000;
/** So many calls in a row without an answer: the core is away, and not only being replaced. */
const MISSED = 3;

/** What it takes to know whether the core answers. */
export type CoreContact = {
  readonly dispatch: Pick<Client<typeof DispatchService>, "getInstallation">;
  readonly timing: Timing;
};

/**
 * Does work from the core's first answer until the core is away or `signal` is aborted; then `stop` is aborted, and the
 * work is awaited. Rejects when there is no first answer, or as the work does. Temporal gives a workflow to the worker
 * that knows it, again and again: without the core, that worker could only hold up a retry that others can make.
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
