import { once } from "node:events";
import { setImmediate as turn } from "node:timers/promises";
import { DispatchService } from "@activity/proto";
import { PROCESS_TIMING as timing } from "@activity/runtime/timing";
import { Code, ConnectError, createClient, createRouterTransport } from "@connectrpc/connect";
import { afterEach, expect, it } from "vitest";
import { QUIET } from "../../../test/harness/quiet.ts";
import { createRecorder } from "../attempt/recorder.ts";
import type { WorkflowTarget } from "./begin-workflow.ts";
import type { Poller } from "./poller.ts";
import { startRetries } from "./workflow-runs.ts";

const RETRY = { run: { accountNo: 1n, deliveryId: "delivery1234567", run: 1 } };
/** How many calls fail in one step with one run: the step completes all runs together, then each alone. */
const FAILURES = 2;

let poller: Poller | undefined;
afterEach(() => poller?.stop());

/**
 * Starts retries. The core's first claim returns one retry, and its first `FAILURES` completions fail. The next
 * completion comes before the next claim, and waits for `restored`.
 */
function startOne(restored: Promise<void>) {
  let claims = 0;
  let completions = 0;
  const transport = createRouterTransport(({ rpc }) => {
    rpc(DispatchService.method.claimRetries, async (_request, { signal }) => {
      claims += 1;
      if (claims > 1) await once(signal, "abort");
      return { retries: [RETRY] };
    });
    rpc(DispatchService.method.completeRetries, async () => {
      completions += 1;
      if (completions <= FAILURES) throw new ConnectError("no database", Code.Unavailable);
      await restored;
      return {};
    });
  });
  const dispatch = createClient(DispatchService, transport);
  const client = {
    start: async () => undefined,
    withDeadline: (_at: number, work: () => unknown) => work(),
  };
  const target = { client, taskQueue: "queue", nowMs: () => 0 } as unknown as WorkflowTarget;
  const recorder = createRecorder(dispatch, QUIET, timing);
  poller = startRetries({ ...target, dispatch, recorder, timing, log: QUIET });
  return { poller, claims: () => claims, completions: () => completions };
}

it("sends no claim once it drains, even if a completion delayed the claim until then. ADR 0043", async () => {
  const { promise: restored, resolve: restore } = Promise.withResolvers<void>();
  const { poller, claims, completions } = startOne(restored);
  await expect.poll(completions).toBe(FAILURES + 1);
  poller.drain();
  restore();
  // A claim would have reached the core before this resolves.
  await turn();
  expect(claims()).toBe(1);
});
