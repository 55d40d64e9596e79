import { DispatchService } from "@activity/proto";
import { PROCESS_TIMING as timing, wait } from "@activity/runtime/timing";
import { createClient, createRouterTransport } from "@connectrpc/connect";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { QUIET } from "../../test/harness/quiet.ts";
import { createRecorder } from "./attempt/recorder.ts";
import { endAttempts } from "./end-attempts.ts";
import { runWorker } from "./temporal/run-worker.ts";

const ATTEMPT = { accountNo: 1, deliveryId: "delivery", run: 1, attempt: 2 };
const MADE = { outcome: "timeout", status: undefined, detail: undefined } as const;
const ANSWER = { headers: undefined, bodyStart: undefined };
/** The longest time that a worker needs to load and make a retry. */
const RETRY_TAKES_MS = 15_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("records the last retry that a worker takes during a stop. ADR 0028", async () => {
  const recorded: string[] = [];
  const transport = createRouterTransport(({ rpc }) => {
    rpc(DispatchService.method.recordAttempts, ({ attempts }) => {
      recorded.push(...attempts.map(({ run }) => run?.deliveryId ?? ""));
      return {};
    });
  });
  const recorder = createRecorder(createClient(DispatchService, transport), QUIET, timing);
  const run = Promise.withResolvers<void>();
  const retry = async () => {
    await wait(timing, RETRY_TAKES_MS - 100);
    await recorder.record(ATTEMPT, { ...MADE, ...ANSWER, startedAtMs: 0, durationMs: 10_000 });
  };
  const worker = {
    run: () => run.promise,
    getState: () => "RUNNING" as const,
    // The worker ends after the retry that it has just taken.
    shutdown: () => void retry().then(run.resolve, run.reject),
  };
  const stopping = new AbortController();
  const pollers = wait(timing, 2 * RETRY_TAKES_MS);
  const ended = runWorker(worker, stopping.signal, () => pollers, timing);
  stopping.abort();
  const stopped = endAttempts(ended, recorder, timing);
  await vi.advanceTimersByTimeAsync(2 * RETRY_TAKES_MS);
  await Promise.all([ended, stopped]);
  expect(recorded).toEqual(["delivery"]);
});

it("gives up the records of a core that is away 25 seconds after a stop", async () => {
  const nowhere = createRouterTransport(() => undefined);
  const recorder = createRecorder(createClient(DispatchService, nowhere), QUIET, timing);
  const ended = recorder.record(ATTEMPT, { ...MADE, ...ANSWER, startedAtMs: 0, durationMs: 1 });
  const dropped = expect(ended).rejects.toThrow("had not recorded it");
  let isDropped = false;
  ended.catch(() => {
    isDropped = true;
  });
  const stopped = endAttempts(ended, recorder, timing);
  await vi.advanceTimersByTimeAsync(24_999);
  expect(isDropped).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  await Promise.all([dropped, stopped]);
});
