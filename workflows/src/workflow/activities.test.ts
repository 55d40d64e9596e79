import { DispatchService } from "@activity/proto";
import { createClient, createRouterTransport } from "@connectrpc/connect";
import { expect, it } from "vitest";
import { createRecorder } from "../attempt/recorder.ts";
import type { Sender } from "../http/sender.ts";
import { createActivities } from "./activities.ts";
import { createAttemptSlots } from "./attempt-slots.ts";

const quiet = () => undefined;
const READY = { url: "https://receiver.example/hook", secret: "whsec_c2VjcmV0", eventId: "event" };
/** More than are kept of those that are recorded. */
const OTHERS = 2_001;

it("makes an attempt once whose task Temporal lost, however many others were made and recorded since. ADR 0028", async () => {
  const transport = createRouterTransport(({ rpc }) => {
    rpc(DispatchService.method.loadAttempt, () => ({ step: { case: "ready", value: READY } }));
    rpc(DispatchService.method.recordAttempts, () => ({}));
  });
  let posts = 0;
  const sender: Sender = {
    async attempt() {
      posts += 1;
      const nothing = { status: undefined, detail: undefined, bodyStart: undefined };
      return { outcome: "timeout", durationMs: 1, ...nothing };
    },
    close: quiet,
  };
  const dispatch = createClient(DispatchService, transport);
  const recorder = createRecorder(dispatch, { info: quiet, warn: quiet, error: quiet });
  const slots = createAttemptSlots({ perEndpoint: 1, total: 1 });
  const { attempt, record } = createActivities({
    ...{ dispatch, sender, recorder, slots, nowMs: () => 0, random: () => 0 },
  });
  const keyOf = (number: number) => ({
    ...{ accountNo: 1, deliveryId: `delivery${number}`, run: 1, attempt: 2 },
  });
  const lost = await attempt({ ...keyOf(0), refused: 0 });
  for (let number = 1; number <= OTHERS; number += 1) {
    const made = await attempt({ ...keyOf(number), refused: 0 });
    if (made.kind !== "made") throw new Error("it was not made");
    await record({ ...keyOf(number), made, before: [] });
  }
  expect(posts).toBe(OTHERS + 1);
  expect(await attempt({ ...keyOf(0), refused: 0 })).toEqual(lost);
  expect(posts).toBe(OTHERS + 1);
  await recorder.close(0);
});
