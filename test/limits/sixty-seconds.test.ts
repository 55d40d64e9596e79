import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import { createApiKey, createReader } from "../harness/builders.ts";
import { type HttpAnswer, requestOf } from "../harness/http.ts";
import { LIMITERS, useTwoInstances } from "./harness-limiters.ts";

// All tests run at once, because they mostly wait.
vi.setConfig({ maxConcurrency: 12 });

const WINDOW_MS = 60_000;
/** The minimum duration: a full window and some time after it. */
const HAMMERING_MS = 75_000;
const PAUSE_MS = 40;
/** A pause follows this many requests, so that the first admissions leave the window long before the others. */
const FIRST_PART = 60;
const LONG_PAUSE_MS = 20_000;

type Timed = { status: number; sentMs: number; answeredMs: number };

/** The different statuses of answers, ascending. */
const statusesOf = (answers: readonly Timed[]) =>
  [...new Set(answers.map(({ status }) => status))].sort((a, b) => a - b);

/** Whether an answer came too late because of a busy machine. Its request may have been counted. */
const isLate = ({ status }: Timed) => status === 503;
const isAdmitted = (answer: Timed) => answer.status !== 429 && !isLate(answer);

/**
 * Checks that the requests after the first `limit` were refused for a window, and that no other window admitted more
 * than `limit`. Also checks that no request was refused while its window admitted fewer.
 */
function expectLimit(limit: number, answers: readonly Timed[]): void {
  // Checks only answers that came before the first request left the window: on a slow machine these are fewer.
  const leavesMs = (answers[0]?.sentMs ?? 0) + WINDOW_MS;
  const first = limit + answers.filter(isLate).length;
  const inside = answers.slice(first).filter(({ answeredMs }) => answeredMs < leavesMs);
  expect(inside.filter(isAdmitted)).toEqual([]);
  expect(statusesOf(inside)).toContain(429);
  const admitted = answers.filter(isAdmitted);
  for (const { sentMs } of admitted) {
    const certainlyInside = admitted.filter(
      (other) => other.sentMs >= sentMs && other.answeredMs < sentMs + WINDOW_MS,
    );
    expect(certainlyInside.length).toBeLessThanOrEqual(limit);
  }
  const counted = answers.filter(({ status }) => status !== 429);
  for (const refused of answers.filter(({ status }) => status === 429)) {
    const perhapsInside = counted.filter(
      // A late request may be counted after its answer.
      (other) =>
        (isLate(other) || other.answeredMs > refused.sentMs - WINDOW_MS) &&
        other.sentMs < refused.answeredMs,
    );
    expect(perhapsInside.length).toBeGreaterThanOrEqual(limit);
  }
}

/**
 * Sends one request after another. Stops once `HAMMERING_MS` have passed and `enough` requests were admitted, so that
 * the window has emptied and filled again.
 */
async function hammer(enough: number, send: (index: number) => Promise<HttpAnswer>) {
  const answers: Timed[] = [];
  let admitted = 0;
  const endMs = performance.now() + HAMMERING_MS;
  for (let index = 0; performance.now() < endMs || admitted < enough; index++) {
    const sentMs = performance.now();
    const { status } = await send(index);
    const answer = { status, sentMs, answeredMs: performance.now() };
    answers.push(answer);
    if (isAdmitted(answer)) admitted += 1;
    // Sends fast until the window is full, then slowly, so that the test does not load the machine.
    if (index > 400) await wait(PAUSE_MS);
    if (index === FIRST_PART) await wait(LONG_PAUSE_MS);
  }
  return answers;
}

describe.concurrent.each(LIMITERS)("§8 limits of a minute, counted in %s", (_, startRedis) => {
  const instances = useTwoInstances(startRedis);

  it.concurrent("admit exactly 120 requests of an account in any 60 seconds, over two instances and two keys", async () => {
    const { accountId, apiKey } = await createReader(instances.stack);
    const { text: secondKey } = await createApiKey(instances.stack, accountId);
    const answers = await hammer(200, (index) =>
      requestOf(instances.portOf(index), "/api/v1/me", {
        headers: { "x-forwarded-for": `198.51.100.${index % 200}` },
        apiKey: (index >> 1) % 2 ? apiKey : secondKey,
      }),
    );
    expect(statusesOf(answers.slice(0, 120).filter((one) => !isLate(one)))).toEqual([200]);
    expectLimit(120, answers);
  }, 180_000);

  it.concurrent("admit exactly 300 requests of an address in any 60 seconds, for any request", async () => {
    const headers = { "x-forwarded-for": "203.0.113.77" };
    const paths = ["/nothing", "/api/v1/me", "/api/v1/activity?x=y"];
    const answers = await hammer(400, (index) =>
      requestOf(instances.portOf(index), paths[index % paths.length] ?? "", { headers }),
    );
    expect(statusesOf(answers.slice(0, 300).filter((one) => !isLate(one)))).toEqual([401, 404]);
    expectLimit(300, answers);
  }, 180_000);
});
