import type { ClaimedAttempt, DispatchService, ReadyAttempt } from "@activity/proto";
import type { Log } from "@activity/runtime/log";
import { type Timing, wait } from "@activity/runtime/timing";
import type { Client } from "@connectrpc/connect";
import { type FinishedAttempt, makeAttempt } from "../attempt/make-attempt.ts";
import type { Recorder } from "../attempt/recorder.ts";
import { runFromProto } from "../attempt/run-key.ts";
import { orAborted } from "../common/or-aborted.ts";
import { type AttemptKey, attemptName } from "../common/run.ts";
import { ProxyFailure } from "../http/egress-proxy.ts";
import type { Sender } from "../http/sender.ts";
import { createAttemptsInMaking } from "./attempts-in-making.ts";
import { CLAIM_WAIT, claimOptions } from "./claim-options.ts";
import { type Poller, startPoller } from "./poller.ts";

/** The most attempts in flight of one dispatcher. An attempt that hangs holds a socket and 85 KB (measured). */
const MAX_IN_FLIGHT = 4_096;
const MAX_CLAIM = 64;
/** How long each attempt of a claim may delay the next claim under load: up to 96 ms for a full claim. */
const PACE_MS = 1.5;
/** From this number of quick attempts on, the next claim waits for the last one's attempts, up to `PACE_MS` each. */
const PACED_FROM = 16;
/** An endpoint's limit while few attempts are in flight. A receiver that answers can use no more. */
const MAX_ENDPOINT_LIMIT = 64;
/**
 * All attempts in flight, multiplied by the limit of one endpoint. With this product, ten endpoints that hang have 10
 * attempts each, and a thousand have one. A larger one would cost more: attempts that hang end together after ten
 * seconds, and as many handshakes follow at once.
 */
const FAIR_PRODUCT = 1_024;
/** Below this number of quick attempts, the core may lease new events to this dispatcher as it writes them. */
const IDLE_BELOW = MAX_ENDPOINT_LIMIT / 2;

/** Claims and makes first attempts until it is stopped. Then it waits for those in flight. */
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
  /**
   * The attempts in flight, by name. An attempt whose lease ends can be claimed again, but must not be made a second
   * time.
   */
  const inFlight = new Map<string, Promise<void>>();
  /**
   * Names of attempts that ended since the latest claim was sent. That claim may return them, because it may have found
   * them before they were recorded.
   */
  const ended = new Set<string>();
  let oneEnded = Promise.withResolvers<void>();
  /** Counts attempts that were not recorded when the recorder was closed. */
  let unrecorded = 0;
  /** The attempts in flight that are not answered yet. The others wait to be recorded. */
  const making = createAttemptsInMaking(timing.nowMs);

  const poller = startPoller(
    "claim of first attempts",
    async (signal, isDraining) => {
      // In an outage this waits: made attempts must be recorded before the next claim, which could return them again.
      await orAborted(recorder.caughtUp(), signal);
      while (inFlight.size >= MAX_IN_FLIGHT) await orAborted(oneEnded.promise, signal);
      if (isDraining()) return;
      const capacity = MAX_IN_FLIGHT - inFlight.size;
      const { quick, slowEndpointIds } = making.read();
      const isIdle = quick < IDLE_BELOW;
      const claim = {
        // The core leases new events to an idle dispatcher without counting its quick attempts. All of those events may
        // have the same endpoint as these attempts, so the attempts are subtracted here.
        limit: Math.min(isIdle ? MAX_ENDPOINT_LIMIT - quick : MAX_CLAIM, capacity),
        endpointLimit: endpointLimitOf(inFlight.size),
        idle: isIdle,
        slowEndpointIds: [...slowEndpointIds],
        wait: CLAIM_WAIT,
      };
      ended.clear();
      const { attempts } = await dispatch.claimAttempts(claim, claimOptions(signal));
      const made = Promise.all(attempts.map(begin));
      // More attempts at once are no faster, and each takes a connection. So the next claim waits until these are made.
      // The core can then lease new events to this dispatcher. `PACE_MS` limits the wait for attempts that hang.
      if (making.read().quick >= PACED_FROM) {
        await orAborted(Promise.race([made, wait(timing, PACE_MS * attempts.length)]), signal);
      }
    },
    log,
    timing,
  );

  /** Begins an attempt. Resolves once it is made. */
  async function begin({ run, ready }: ClaimedAttempt): Promise<void> {
    const key = { ...runFromProto(run), attempt: 1 };
    const name = attemptName(key);
    if (ended.has(name) || inFlight.has(name)) return;
    const made = make(key, ready);
    const attempt = made
      .then(
        (finished) =>
          recorder
            .record(key, finished)
            .catch(() => {
              unrecorded += 1;
            })
            .finally(() => ended.add(name)),
        // After a ProxyFailure the attempt was not made. It is claimed again once its lease ends.
        (cause: unknown) => {
          if (cause instanceof ProxyFailure) return;
          log.error("an attempt could not be made", { cause, ...key });
        },
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
      if (unrecorded === 0) return;
      log.error("attempts could not be recorded: they may be made again", { attempts: unrecorded });
    },
  };
}

/** An endpoint's limit falls as more attempts are in flight. */
function endpointLimitOf(inFlight: number): number {
  return Math.max(1, Math.min(MAX_ENDPOINT_LIMIT, Math.floor(FAIR_PRODUCT / inFlight)));
}
