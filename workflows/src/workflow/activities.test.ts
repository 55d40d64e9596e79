import { AttemptOutcome, DispatchService, type LoadAttemptResponseSchema } from "@activity/proto";
import { PROCESS_TIMING } from "@activity/runtime/timing";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { createClient, createRouterTransport } from "@connectrpc/connect";
import { afterEach, expect, it, vi } from "vitest";
import { QUIET } from "../../../test/harness/quiet.ts";
import { createRecorder, type Recorder } from "../attempt/recorder.ts";
import type { AttemptOutcome as Outcome } from "../http/attempt-outcome.ts";
import { ProxyFailure } from "../http/egress-proxy.ts";
import type { Sender } from "../http/sender.ts";
import { createActivities } from "./activities.ts";
import { createAttemptSlots } from "./attempt-slots.ts";
import type { AttemptAnswer } from "./contract.ts";

type LoadAttemptStep = NonNullable<MessageInitShape<typeof LoadAttemptResponseSchema>["step"]>;

const quiet = () => undefined;
const READY = { url: "https://receiver.example/hook", secret: "whsec_c2VjcmV0", eventId: "event" };
/** An outcome that only a newer version knows. */
const NEWER = 99 as AttemptOutcome;
/** More recorded attempts than a worker keeps. */
const OTHERS = 2_001;

let recorder: Recorder;
afterEach(() => recorder.close(0));

/**
 * Creates activities and their core. By default, the core answers that every attempt is ready. When an attempt is
 * recorded, the core answers "busy" if `isBusy` is true for its delivery.
 */
function startActivities(
  isBusy: (deliveryId: string | undefined) => boolean,
  {
    slots = OTHERS + 1,
    failure = (): Error | undefined => undefined,
    timing = PROCESS_TIMING,
    step = (): LoadAttemptStep => ({ case: "ready", value: READY }),
  } = {},
) {
  const recorded: string[] = [];
  const texts: string[] = [];
  const transport = createRouterTransport(({ rpc }) => {
    rpc(DispatchService.method.loadAttempt, () => ({ step: step() }));
    rpc(DispatchService.method.rescheduleAttempt, () => ({}));
    rpc(DispatchService.method.recordAttempts, ({ attempts }) => {
      const busy = attempts.flatMap(({ run }, place) => (isBusy(run?.deliveryId) ? [place] : []));
      for (const [place, { run, before, responseHeaders, responseBody }] of attempts.entries()) {
        if (busy.includes(place)) continue;
        recorded.push(`${run?.deliveryId} behind ${before.length}`);
        texts.push(`${responseHeaders} ${Buffer.from(responseBody).toString()}`);
      }
      return { busy };
    });
  });
  let posts = 0;
  const sender: Sender = {
    async attempt() {
      posts += 1;
      // Other callers can ask for the attempt during the POST.
      await new Promise(setImmediate);
      const error = failure();
      if (error !== undefined) throw error;
      const answer = { headers: "server: x", bodyStart: Buffer.from("Ada is unknown") };
      const nothing = { status: undefined, detail: undefined, ...answer };
      return { outcome: "timeout", durationMs: 1, ...nothing };
    },
    close: quiet,
  };
  const dispatch = createClient(DispatchService, transport);
  recorder = createRecorder(dispatch, QUIET, PROCESS_TIMING);
  const sizes = { perEndpoint: slots, total: slots ** 2, nowMs: () => 0 };
  const { attempt, record } = createActivities({
    ...{ dispatch, sender, recorder, nowMs: () => 0, timing },
    slots: createAttemptSlots(sizes),
  });
  return {
    ...{ recorded, texts },
    posts: () => posts,
    ask: (number: number, isClaimed = false) => attempt({ ...attemptOf(number), isClaimed }),
    async record(
      number: number,
      made: AttemptAnswer,
      change: { attempt?: number; outcome?: Outcome; startedAtMs?: number } = {},
    ) {
      if (made.kind !== "made") throw new Error("it was not made");
      const { attempt: place = 2, ...other } = change;
      return record({ ...attemptOf(number), attempt: place, made: { ...made, ...other } });
    },
  };
}

const attemptOf = (number: number) => ({
  ...{ accountNo: 1, deliveryId: `delivery${number}`, run: 1, attempt: 2 },
  before: [{ outcome: "timeout", endedAtMs: 0 }] as const,
});

it("makes an attempt once even if Temporal loses its task and many others follow, and counts the delay from its end. §6.4, ADR 0028", async () => {
  let nowMs = 0;
  const timing = { ...PROCESS_TIMING, nowMs: () => nowMs };
  // The first delivery is never recorded: another write always holds it.
  const activities = startActivities((deliveryId) => deliveryId === "delivery0", { timing });
  const lost = await activities.ask(0);
  expect(lost).toMatchObject({ kind: "made", retryInMs: 300_000 });
  const others = Array.from({ length: OTHERS }, async (_, index) => {
    await activities.record(index + 1, await activities.ask(index + 1));
  });
  await Promise.all(others);
  expect(activities.posts()).toBe(OTHERS + 1);
  nowMs = 200_000;
  expect(await activities.ask(0)).toEqual({ ...lost, retryInMs: 100_000 });
  expect(activities.posts()).toBe(OTHERS + 1);
});

it("records an attempt once and at once, whenever Temporal continues its workflow. ADR 0028", async () => {
  const activities = startActivities(() => false);
  const made = await activities.ask(1);
  await expect.poll(() => activities.recorded).toEqual(["delivery1 behind 1"]);
  await activities.record(1, made);
  expect(activities.recorded).toEqual(["delivery1 behind 1"]);
});

it("records the success of another worker that made the same attempt. ADR 0028", async () => {
  const activities = startActivities(() => false);
  const made = await activities.ask(1);
  await activities.record(1, made);
  await activities.record(1, made, { outcome: "delivered", startedAtMs: 1 });
  expect(activities.recorded).toEqual(["delivery1 behind 1", "delivery1 behind 1"]);
});

it.each([
  [2, "route_not_found"],
  [8, "receiver_busy"],
] as const)(
  "returns what is recorded if attempt %i, %s, would end its run. ADR 0028, ADR 0044",
  async (attempt, outcome) => {
    const endedAt = { seconds: 0n, nanos: 0 };
    let step: LoadAttemptStep = { case: "ready", value: READY };
    const activities = startActivities(() => false, { step: () => step });
    const made = await activities.ask(1);
    step = { case: "recorded", value: { outcome: AttemptOutcome.TIMEOUT, endedAt } };
    const other = { outcome: "timeout", endedAtMs: 0 };
    expect(await activities.record(1, made, { attempt, outcome })).toMatchObject(other);
    // A newer version's outcome ended the run.
    step = { case: "recorded", value: { outcome: NEWER, endedAt } };
    expect(await activities.record(1, made, { attempt, outcome })).toBeUndefined();
    expect(await activities.ask(2)).toEqual({ kind: "ended" });
    // A failover has lost the recorded attempt.
    step = { case: "ready", value: READY };
    expect(await activities.record(1, made, { attempt, outcome })).toBeUndefined();
    expect(activities.posts()).toBe(1);
  },
);

it("gives the texts of a receiver's answer to the record, and to no history", async () => {
  const activities = startActivities(() => false, {
    timing: { ...PROCESS_TIMING, nowMs: () => 0 },
  });
  const made = await activities.ask(1);
  await activities.record(1, made);
  expect(activities.texts).toEqual(["server: x Ada is unknown"]);
  const times = { startedAtMs: 0, durationMs: 1, endedAtMs: 1, retryInMs: 300_000 };
  const expected = { kind: "made", outcome: "timeout", ...times };
  expect([made, await activities.ask(1)]).toEqual([expected, expected]);
});

it.each([
  ["takes a slot if no claim limits it", false, 1],
  ["takes no slot if a claim limits it", true, 3],
])("an attempt of a workflow %s. ADR 0028", async (_, isClaimed, posts) => {
  const activities = startActivities(() => false, { slots: 1 });
  const answers = await Promise.all([1, 2, 3].map((each) => activities.ask(each, isClaimed)));
  expect(answers.filter(({ kind }) => kind === "made")).toHaveLength(posts);
  expect(activities.posts()).toBe(posts);
});

it("reschedules an attempt that the egress proxy failed, and records nothing. ADR 0027", async () => {
  let failure: Error | undefined = new ProxyFailure("it answered 403");
  const activities = startActivities(() => false, { failure: () => failure });
  const later = { kind: "rescheduled", waitMs: 30_000 };
  // Both callers get the same answer, and the slot is free again.
  expect(await Promise.all([activities.ask(0), activities.ask(0)])).toEqual([later, later]);
  expect(activities.recorded).toEqual([]);
  failure = undefined;
  expect(await activities.ask(0)).toMatchObject({ kind: "made", outcome: "timeout" });
  await expect.poll(() => activities.recorded).toEqual(["delivery0 behind 1"]);
});

it("makes an attempt again that failed without an outcome", async () => {
  let failure: Error | undefined = new Error("a bug");
  const activities = startActivities(() => false, { failure: () => failure });
  await expect(activities.ask(0)).rejects.toThrow("a bug");
  failure = undefined;
  expect(await activities.ask(0)).toMatchObject({ kind: "made", outcome: "timeout" });
});

it("fails at a step that only a newer core knows, so that the workflow asks again", async () => {
  let step: LoadAttemptStep = { case: undefined };
  const activities = startActivities(() => false, { step: () => step });
  await expect(activities.ask(1)).rejects.toThrow("unknown step");
  step = { case: "ready", value: READY };
  const made = await activities.ask(1);
  step = { case: undefined };
  const last = activities.record(1, made, { outcome: "route_not_found" });
  await expect(last).rejects.toThrow("unknown step");
});

it("ends a record that the core cannot write yet, so that the worker can end. ADR 0028", async () => {
  let isBusy = true;
  const over: (() => void)[] = [];
  const timing = {
    ...PROCESS_TIMING,
    after(_: number, work: () => void) {
      over.push(work);
      return quiet;
    },
  };
  const activities = startActivities(() => isBusy, { timing });
  const records = vi.spyOn(recorder, "record");
  const made = await activities.ask(1);
  for (const times of [1, 2, 3]) {
    const waiting = expect(activities.record(1, made)).rejects.toThrow("not recorded yet");
    await expect.poll(() => over).toHaveLength(times);
    over.at(-1)?.();
    await waiting;
  }
  // A second call to `recorder.record` would keep its caller in memory until the attempt is recorded.
  expect(records).toHaveBeenCalledTimes(1);
  // The recorder keeps the attempt, and the core records it once it can.
  isBusy = false;
  await expect.poll(() => activities.recorded, { timeout: 10_000 }).toEqual(["delivery1 behind 1"]);
});

it("fails a record that the worker gives up at its stop, so that another worker repeats it. ADR 0028", async () => {
  const activities = startActivities(() => true);
  const made = await activities.ask(1);
  const dropped = expect(activities.record(1, made)).rejects.toThrow("had not recorded it");
  await recorder.close(0);
  await dropped;
  await expect(activities.record(1, made)).rejects.toThrow("had not recorded it");
});
