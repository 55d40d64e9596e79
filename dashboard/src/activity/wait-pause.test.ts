import { expect, it } from "vitest";
import { waitPauseMs } from "./wait-pause.ts";

const SHOWN = 7n;

it.each([
  ["a whole wait without a change", { feedVersion: 7n, waitedMs: 10_000 }, 100],
  ["an answer that the page shows already", { feedVersion: 6n, waitedMs: 10_000 }, 100],
  ["an answer whose change the page still reads", { feedVersion: 8n, waitedMs: 3_000 }, 5_000],
  ["the answer of a core that stops", { feedVersion: 7n, waitedMs: 5 }, 5_000],
  ["no answer", undefined, 100],
])("after %s, waits again after a suitable delay. ADR 0052", (_, last, delayMs) => {
  expect(waitPauseMs(SHOWN, false, last)).toBe(delayMs);
  expect(waitPauseMs(SHOWN, true, last)).toBe(5_000);
});
