import { createToken } from "#crypto";
import type { Claims } from "./claims.ts";
import { createCleanUp } from "./clean-up.ts";
import {
  checkedMs,
  type Freshness,
  isStale,
  type KeepOptions,
  keepMsOf,
  type OnceStore,
} from "./once-store.ts";

const DEFAULT_LEASE_SECONDS = 30;
/** The longest wait that a timer supports. A timer with a longer wait would fire at once. */
const MAX_LEASE_SECONDS = 2_147_483;
const RENEWALS_PER_LEASE = 3;
/** The pauses before the store tries again to mark an event done. */
const MARK_AGAIN_MS = [100, 1_000];

/** How long a store keeps claims and handled ids. */
export interface LeaseOptions extends KeepOptions {
  /**
   * How many seconds a claim outlives an owner that died: above 0, at most 24 days. A living owner renews it. Default
   * 30.
   */
  readonly leaseSeconds?: number | undefined;
}

/** The context of work under a lease. */
export interface LeaseContext extends Freshness {
  /**
   * Aborts when the claim is lost, so that long work can stop. Also aborts when the lease ends while the storage cannot
   * be reached, because another owner may then take the claim. Work that stops must throw, because work that returns
   * counts as done.
   */
  readonly signal: AbortSignal;
}

/**
 * Creates a store that claims an id, renews the lease while the work runs, and then marks the id done. Throws a
 * RangeError if an option is out of its range.
 */
export function createLeaseStore(
  claims: Claims,
  options: LeaseOptions = {},
): OnceStore<LeaseContext> {
  const { leaseSeconds = DEFAULT_LEASE_SECONDS } = options;
  const leaseMs = checkedMs("leaseSeconds", leaseSeconds, MAX_LEASE_SECONDS);
  const keepMs = keepMsOf(options);
  const cleanUpNowAndThen = createCleanUp(claims);
  return {
    async runOnce(eventId, work, of) {
      const owner = createToken();
      const askedMs = performance.now();
      const result = await claims.claim(eventId, owner, leaseMs);
      if (result !== "claimed") return result === "done" ? "seen_before" : "in_progress";

      const lost = new AbortController();
      const renew = () => claims.renew(eventId, owner, leaseMs);
      const stopRenewing = keepRenewing(renew, leaseMs, askedMs, lost);
      const keep = (time: string) => of && claims.keepNewest(of.record, time, keepMs);
      try {
        await work({ signal: lost.signal, stale: isStale(of, await keep("")) });
      } catch (error) {
        stopRenewing();
        // The work's error matters more than a failed release. If the release fails, the claim ends with its lease.
        await claims.release(eventId, owner).catch(() => {});
        throw error;
      }
      const complete = () => claims.complete(eventId, owner, keepMs);
      let wasTried = false;
      const mark = async () => {
        const mayBeMarked = wasTried;
        // Keeps the event's time only now, after the work: if the work fails, older events must not become out of date.
        await keep(of?.time ?? "");
        wasTried = true;
        if (await complete()) return true;
        // `done` after an earlier try means that only the answer of that try was lost. `claimed` means that the claim
        // was deleted after its lease, and that this owner has it again.
        const now = await claims.claim(eventId, owner, leaseMs);
        return now === "done" ? mayBeMarked : now === "claimed" && (await complete());
      };
      // The work is done, so a lost connection to the storage must not cause it to run again.
      const isMarked = await insist(mark).finally(stopRenewing);
      if (!isMarked) return "claim_lost";
      await cleanUpNowAndThen();
      return "handled";
    },
    deleteExpired: (limit) => claims.deleteExpired(limit),
  };
}

/**
 * Renews the lease of a claim that this process requested at `askedMs`. Aborts `lost` when the claim is lost, or when
 * the lease ends without a renewal. Returns a function that stops the renewals.
 */
function keepRenewing(
  renew: () => Promise<boolean>,
  leaseMs: number,
  askedMs: number,
  lost: AbortController,
) {
  const lose = () =>
    lost.abort(new Error("the claim on this event was lost, or could not be renewed in time"));
  // Counts the lease from the request. The storage counts from a later moment, so its lease ends no earlier.
  let heldSinceMs = askedMs;
  const loseLater = () => setTimeout(lose, heldSinceMs + leaseMs - performance.now());
  let ending = loseLater();
  let isStopped = false;
  const timer = setInterval(() => {
    const sentMs = performance.now();
    // Ignores a failed renewal, because the next one may reach the storage before the lease ends.
    renew().then(
      (renewed) => {
        if (isStopped) return;
        clearTimeout(ending);
        if (!renewed) return lose();
        // The answers may come in another order than the renewals.
        heldSinceMs = Math.max(heldSinceMs, sentMs);
        ending = loseLater();
      },
      () => {},
    );
  }, leaseMs / RENEWALS_PER_LEASE);
  return () => {
    isStopped = true;
    clearInterval(timer);
    clearTimeout(ending);
  };
}

/** Runs `run` again after a failure, at most three times in all. */
async function insist<Result>(run: () => Promise<Result>): Promise<Result> {
  for (const pauseMs of MARK_AGAIN_MS) {
    try {
      return await run();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
  return run();
}
