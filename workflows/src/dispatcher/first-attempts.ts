import type { ClaimedAttempt, DispatchService, ReadyAttempt } from "@activity/proto";
import type { Log } from "@activity/runtime/log";
import { type Timing, wait } from "@activity/runtime/timing";
import type { Client } from "@connectrpc/connect";
import { type FinishedAttempt, makeAttempt } from "../attempt/make-attempt.ts";
import type { Recorder } from "../attempt/recorder.ts";
import { runFromProto } from "../attempt/run-key.ts";
import { type AttemptKey, attemptName } from "../common/run.ts";
import { ProxyFailure } from "../http/egress-proxy.ts";
import type { Sender } from "../http/sender.ts";
import { createAttemptsInMaking } from "./attempts-in-making.ts";
import { CLAIM_WAIT, claimOptions } from "./claim-options.ts";
import { type Poller, startPoller } from "./poller.ts";

/** Attempts of one dispatcher in flight: one that hangs holds a socket and 85 KB (measured). */
const MAX_IN_FLIGHT = 4_096;
const MAX_CLAIM = 64;
/** How long each attempt of a claim may delay the next claim while many are being made: a full one 100 ms. */
const PACE_MS = 1.5;
/** With as many quick attempts being made, they are waited for, up to their pace. */
const PACED_FROM = 16;
/** What an endpoint may have in flight while little else is: as much as a receiver that answers can use. */
const MAX_ENDPOINT_LIMIT = 64;
/**
 * In flight altogether times in flight at an endpoint: ten endpoints that hang have 10 each then, a thousand
 * one. What hangs for ten seconds ends at one moment, and costs as many handshakes at the next.
 */
const FAIR_PRODUCT = 1_024;
/** With fewer quick attempts being made, new events may be leased to this dispatcher as they are written. */
const IDLE_BELOW = MAX_ENDPOINT_LIMIT / 2;

/** Makes first attempts under the leases of their entries, until it is stopped; then it waits for those in flight. */
export function startFirstAttempts({
  dispatch,
  sender,
  recorder,
  nowMs,
  timing,
  log,
}: {
  readonly dispatch: Client<typeof DispatchService>;
  readonly sender: Sender;
  readonly recorder: Recorder;
  /** Milliseconds since 1970, for the attempts' timestamps. */
  readonly nowMs: () => number;
  readonly timing: Timing;
  readonly log: Log;
}): Poller {
  /** By name. What is claimed again meanwhile, its lease over, is not made a second time. */
  const inFlight = new Map<string, Promise<void>>();
  /** By name, since the latest claim was sent, which may have found them just before they were recorded. */
  const ended = new Set<string>();
  let oneEnded = Promise.withResolvers<void>();
  /** Of those in flight, the ones that are not made yet: the others wait to be recorded. */
  const making = createAttemptsInMaking(timing.nowMs);

  const poller = startPoller(
    "claim of first attempts",
    async (signal) => {
      // What was made is recorded before more is begun: else it would be claimed again.
      await orAborted(recorder.caughtUp(), signal);
      while (inFlight.size >= MAX_IN_FLIGHT) await orAborted(oneEnded.promise, signal);
      const capacity = MAX_IN_FLIGHT - inFlight.size;
      const { quick, slowEndpointIds } = making.read();
      const isIdle = quick < IDLE_BELOW;
      const claim = {
        // What is leased unseen may all be of a quick endpoint that has the rest in flight.
        limit: Math.min(isIdle ? MAX_ENDPOINT_LIMIT - quick : MAX_CLAIM, capacity),
        endpointLimit: endpointLimitOf(inFlight.size),
        idle: isIdle,
        slowEndpointIds: [...slowEndpointIds],
        wait: CLAIM_WAIT,
      };
      ended.clear();
      const { attempts } = await dispatch.claimAttempts(claim, claimOptions(signal));
      const made = Promise.all(attempts.map(begin));
      // More at once make nothing faster, and each takes a connection. Made, they leave the poller idle for what is
      // written next; what hangs is not waited for.
      if (making.read().quick >= PACED_FROM) {
        await orAborted(Promise.race([made, wait(timing, PACE_MS * attempts.length)]), signal);
      }
    },
    log,
    timing,
  );

  /** Begins an attempt, and resolves once it was made. */
  async function begin({ run, ready }: ClaimedAttempt): Promise<void> {
    const key = { ...runFromProto(run), attempt: 1 };
    const name = attemptName(key);
    if (ended.has(name) || inFlight.has(name)) return;
    const made = make(key, ready);
    const fail = (cause: unknown) => log.error("an attempt could not be recorded", { cause });
    const attempt = made
      .then(
        (finished) =>
          recorder
            .record(key, finished)
            .catch(fail)
            .finally(() => ended.add(name)),
        // It was not made: it is claimed again once its lease ends.
        (cause: unknown) => (cause instanceof ProxyFailure ? undefined : fail(cause)),
      )
      .finally(() => {
        inFlight.delete(name);
        oneEnded.resolve();
        oneEnded = Promise.withResolvers();
      });
    inFlight.set(name, attempt);
    await made.catch(() => undefined);
  }

  async function make(key: AttemptKey, ready: ReadyAttempt | undefined): Promise<FinishedAttempt> {
    if (ready === undefined) throw new Error("the core answered without an attempt's content");
    const end = making.begin(ready.endpointId);
    return makeAttempt(sender, ready, key.attempt, nowMs).finally(end);
  }

  return {
    ...poller,
    async stop() {
      await poller.stop();
      await Promise.all(inFlight.values());
    },
  };
}

/** The more is in flight, the less of it an endpoint may have. */
function endpointLimitOf(inFlight: number): number {
  return Math.max(1, Math.min(MAX_ENDPOINT_LIMIT, Math.floor(FAIR_PRODUCT / inFlight)));
}

/** Resolves with the promise, or rejects once the signal is aborted. */
function orAborted(promise: Promise<unknown>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.reject(signal.reason);
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    promise.then(() => resolve(), reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
