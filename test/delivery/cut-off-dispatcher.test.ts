import { DeliveryState } from "@activity/proto";
import { PROCESS_TIMING as timing } from "@activity/runtime/timing";
import { Code, ConnectError } from "@connectrpc/connect";
import { expect, it } from "vitest";
import { createRecorder } from "../../workflows/src/attempt/recorder.ts";
import { startFirstAttempts } from "../../workflows/src/dispatcher/first-attempts.ts";
import type { Sender } from "../../workflows/src/http/sender.ts";
import { useServices } from "../harness/services.ts";

const services = useServices();

const quiet = () => undefined;
const log = { info: quiet, warn: quiet, error: quiet };

/** A dispatcher of the core, that can be cut off from it; it counts its POSTs, of which each is answered 200. */
function startDispatcher() {
  let isCutOff = false;
  let [calls, posts] = [0, 0];
  const orCutOff = <Call extends (...input: never[]) => Promise<unknown>>(call: Call) =>
    (async (...input) => {
      calls += 1;
      if (isCutOff) throw new ConnectError("the core is out of reach", Code.Unavailable);
      return call(...input);
    }) as Call;
  const { dispatch: core } = services;
  const dispatch = {
    ...core,
    claimAttempts: orCutOff(core.claimAttempts),
    recordAttempts: orCutOff(core.recordAttempts),
  };
  const sender: Sender = {
    async attempt() {
      posts += 1;
      return {
        outcome: "delivered",
        status: 200,
        durationMs: 1,
        detail: undefined,
        bodyStart: undefined,
      };
    },
    close: quiet,
  };
  const recorder = createRecorder(dispatch, log, timing);
  const poller = startFirstAttempts({ dispatch, sender, recorder, nowMs: () => 0, timing, log });
  return {
    claims: () => calls,
    posts: () => posts,
    cutOff: (is: boolean) => {
      isCutOff = is;
    },
    async stop() {
      await recorder.close(0);
      await poller.stop();
    },
  };
}

it("ADR 0028: what a dispatcher posted and cannot record is posted by another once its lease ends, and recorded once", async () => {
  const accountId = await services.createAccount();
  const endpointId = await services.createEndpoint(accountId);
  const cut = startDispatcher();
  await expect.poll(() => cut.claims()).toBe(1);
  // The claim that waits is answered still.
  cut.cutOff(true);
  const { deliveryId } = await services.sendTest(accountId, endpointId);
  await expect.poll(cut.posts).toBe(1);

  const other = startDispatcher();
  await services.database.query("UPDATE outbox_entry SET leased_until = 0");
  await expect.poll(other.posts).toBe(1);
  cut.cutOff(false);
  const read = () => services.deliveries.getDelivery({ accountId, deliveryId });
  await expect.poll(async () => (await read()).delivery?.state).toBe(DeliveryState.DELIVERED);
  await cut.stop();
  await other.stop();
  expect((await read()).attempts).toHaveLength(1);
  expect([cut.posts(), other.posts()]).toEqual([1, 1]);
});
