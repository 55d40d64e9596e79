import { createRefusedClients } from "@activity/runtime/refused-clients";
import { expect, it } from "vitest";
import { refuseKnownClients } from "./answer-refusals.ts";
import { errorResponse } from "./error-response.ts";

const HOUR_MS = 3_600_000;

/** Creates answers that refuse each client for an hour. */
function createAnswers(delayMs = HOUR_MS) {
  let calls = 0;
  const refused = createRefusedClients(() => performance.now());
  const answer = async () => {
    calls += 1;
    return { ...errorResponse("rate_limit_exceeded", "req_1"), clientRefusedForMs: HOUR_MS };
  };
  const answers = refuseKnownClients(
    { answerRequest: answer, answerUnreadable: answer },
    refused,
    delayMs,
  );
  const ask = (clientAddress: string, signal = new AbortController().signal) =>
    answers.answerUnreadable(
      { requestId: "req_1", clientAddress, signal },
      errorResponse("not_found", "req_1"),
    );
  return { ask, calls: () => calls };
}

it("ADR 0030: the delay of a refused client ends when it hangs up, and leaves no timer", async () => {
  const { ask, calls } = createAnswers();
  await ask("192.0.2.1");
  const gone = new AbortController();
  const timers = () => process.getActiveResourcesInfo().filter((type) => type === "Timeout").length;
  const before = timers();
  const asked = ask("192.0.2.1", gone.signal);
  expect(timers()).toBe(before + 1);
  gone.abort();
  // Does not poll: the test runner's own timers would change the count.
  expect(timers()).toBe(before);
  expect((await asked).status).toBe(429);
  expect(calls()).toBe(1);
});

it("ADR 0030: a flood of refusals leaves more than half of the time to others", async () => {
  const { ask } = createAnswers(1);
  await ask("192.0.2.1");
  const startMs = performance.now();
  let refusingMs = 0;
  const flood = Array.from({ length: 256 }, async () => {
    await ask("192.0.2.1");
    // The work is short, because the pause after 32 refusals has an upper limit. At most one millisecond of it counts,
    // because the system may stop the process during the work.
    refusingMs += Math.min(workFor(0.1), 1);
  });
  await Promise.all(flood);
  // Compares a share, because a busy machine makes both times longer.
  expect(refusingMs / (performance.now() - startMs)).toBeLessThan(0.5);
});

/** Keeps the event loop busy for at least `ms` milliseconds. Returns the milliseconds that it took. */
function workFor(ms: number): number {
  const beganMs = performance.now();
  while (performance.now() < beganMs + ms);
  return performance.now() - beganMs;
}
