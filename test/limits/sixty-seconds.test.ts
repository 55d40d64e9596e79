import { describe, expect, it, vi } from "vitest";
import { createApiKey, createReader } from "../harness/builders.ts";
import { type HttpAnswer, requestOf } from "../harness/http.ts";
import { LIMITERS, useTwoInstances } from "./harness-limiters.ts";

// All at once, for they mostly wait.
vi.setConfig({ maxConcurrency: 12 });

const WINDOW_MS = 60_000;
/** How long the hammering goes on at least: a full window and what follows it. */
const HAMMERING_MS = 75_000;
const PAUSE_MS = 40;

type Timed = { status: number; sentMs: number; answeredMs: number };

/** The different statuses among answers, in ascending order. */
const statusesOf = (answers: readonly Timed[]) =>
  [...new Set(answers.map(({ status }) => status))].sort((a, b) => a - b);

/** Neither over the limit, nor too late for a busy machine's storage. */
const isAdmitted = ({ status }: Timed) => status !== 429 && status !== 503;

/** Fails unless what came behind the first `limit` was refused for a window, and no other span held more. */
function expectLimit(limit: number, answers: readonly Timed[]): void {
  // On a slow machine fewer come before the first one leaves the window.
  const leavesMs = (answers[0]?.sentMs ?? 0) + WINDOW_MS;
  const inside = answers.slice(limit).filter(({ answeredMs }) => answeredMs < leavesMs);
  expect(inside.filter(isAdmitted)).toEqual([]);
  expect(statusesOf(inside)).toContain(429);
  expectNoSpanOver(limit, answers.filter(isAdmitted));
}

/** Fails when some 60-second span certainly held more admissions than the limit. */
function expectNoSpanOver(limit: number, admitted: readonly Timed[]): void {
  for (const { sentMs } of admitted) {
    const inside = admitted.filter(
      (other) => other.sentMs >= sentMs && other.answeredMs < sentMs + WINDOW_MS,
    );
    expect(inside.length).toBeLessThanOrEqual(limit);
  }
}

describe.concurrent.each(LIMITERS)(
  "§8 the limits of a whole minute, counted in %s",
  (_, startRedis) => {
    const { stack, portOf } = useTwoInstances(startRedis);

    /**
     * Sends requests one after another over both instances until the time is up, and until the burst is out of the
     * window and as many were admitted again.
     */
    async function hammer(
      send: (index: number) => Promise<HttpAnswer>,
      enough: number,
    ): Promise<Timed[]> {
      const answers: Timed[] = [];
      let admitted = 0;
      const endMs = performance.now() + HAMMERING_MS;
      for (let index = 0; performance.now() < endMs || admitted < enough; index++) {
        const sentMs = performance.now();
        const { status } = await send(index);
        const answer = { status, sentMs, answeredMs: performance.now() };
        answers.push(answer);
        if (isAdmitted(answer)) admitted += 1;
        // Quick while it fills the window, then slow enough not to be the load of the machine.
        if (index > 400) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
      return answers;
    }

    it.concurrent("admit exactly 120 requests of an account in any 60 seconds, over two instances and two keys", async () => {
      const { accountId, apiKey } = await createReader(stack());
      const { text: secondKey } = await createApiKey(stack(), accountId);
      const answers = await hammer((index) => {
        const headers = { "x-forwarded-for": `198.51.100.${index % 200}` };
        return requestOf(portOf(index), "/api/v1/me", {
          headers,
          apiKey: (index >> 1) % 2 ? apiKey : secondKey,
        });
      }, 200);
      expect(statusesOf(answers.slice(0, 120))).toEqual([200]);
      expectLimit(120, answers);
    }, 180_000);

    it.concurrent("admit exactly 300 requests of an address in any 60 seconds, whatever they ask for", async () => {
      const headers = { "x-forwarded-for": "203.0.113.77" };
      const paths = ["/nothing", "/api/v1/me", "/api/v1/activity?x=y"];
      const answers = await hammer(
        (index) => requestOf(portOf(index), paths[index % paths.length] ?? "", { headers }),
        400,
      );
      expect(statusesOf(answers.slice(0, 300))).toEqual([401, 404]);
      expectLimit(300, answers);
    }, 180_000);
  },
);
