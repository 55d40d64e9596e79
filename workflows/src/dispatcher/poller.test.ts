import { createLog } from "@activity/runtime/log";
import { PROCESS_TIMING, type Timing } from "@activity/runtime/timing";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterEach, expect, it } from "vitest";
import { QUIET } from "../../../test/harness/quiet.ts";
import { type Poller, startPoller } from "./poller.ts";

let poller: Poller | undefined;
afterEach(() => poller?.stop());

/** A poller whose steps wait until the test ends them. */
function startSteps(log = QUIET, timing = PROCESS_TIMING) {
  const steps: { signal: AbortSignal; end: () => void; fail: (cause: unknown) => void }[] = [];
  poller = startPoller(
    "a step",
    (signal) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      signal.addEventListener("abort", () => reject(signal.reason));
      steps.push({ signal, end: resolve, fail: reject });
      return promise;
    },
    log,
    timing,
  );
  return { poller, steps };
}

it("lets its step end and begins no other when it drains. ADR 0043", async () => {
  const { poller, steps } = startSteps();
  steps[0]?.end();
  await expect.poll(() => steps.length).toBe(2);
  poller.drain();
  expect(steps[1]?.signal.aborted).toBe(false);
  steps[1]?.end();
  // A third step would have begun before this resolves.
  await new Promise((resolve) => setImmediate(resolve));
  expect(steps).toHaveLength(2);
});

it("shows how its last step ended", async () => {
  const { poller, steps } = startSteps();
  expect(poller.state()).toBe("starting");
  steps[0]?.end();
  await expect.poll(poller.state).toBe("serving");
  steps[1]?.fail(new Error("no core"));
  await expect.poll(poller.state).toBe("unavailable");
});

it("logs the code and the advice of a claim that the core refuses", async () => {
  const lines: string[] = [];
  const { poller, steps } = startSteps(createLog((line) => void lines.push(line)));
  steps[0]?.fail(new ConnectError("no", Code.Unauthenticated));
  await expect.poll(poller.state).toBe("unavailable");
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({
    ...{ message: "a step failed", code: "Unauthenticated" },
    advice: expect.stringContaining("CORE_CREDENTIAL: replace it"),
  });
});

it("logs a failure once in ten seconds, and another failure at once", async () => {
  const lines: string[] = [];
  const timing: Timing = { nowMs: () => nowMs, after: (_, work) => PROCESS_TIMING.after(0, work) };
  let nowMs = 0;
  const { steps } = startSteps(
    createLog((line) => void lines.push(line)),
    timing,
  );
  const errorWith = (code: Code) => new ConnectError("no", code);
  const [away, late] = [errorWith(Code.Unavailable), errorWith(Code.DeadlineExceeded)];
  for (const [place, [atMs, cause]] of (
    [
      [0, away],
      [1_000, away],
      [2_000, late],
      [9_999, away],
      [10_000, away],
    ] as const
  ).entries()) {
    await expect.poll(() => steps.length).toBe(place + 1);
    nowMs = atMs;
    steps[place]?.fail(cause);
  }
  await expect.poll(() => steps.length).toBe(6);
  const codes = lines.map((line) => JSON.parse(line).code);
  expect(codes).toEqual(["Unavailable", "DeadlineExceeded", "Unavailable"]);
});
