import { setTimeout as wait } from "node:timers/promises";
import type { ClaimDeliveriesResponse, DispatchService } from "@activity/proto";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import type { Client } from "@connectrpc/connect";
import type { WorkflowClient } from "@temporalio/client";
import type { Sequence } from "../contract.ts";
import type { Log } from "../log.ts";
import { type Claimed, startClaimed } from "./start-claimed.ts";

/** The sweep: what a nudge missed waits no longer than this. §6.4 */
const SWEEP_MS = 5_000;
const CLAIMED_AT_ONCE = 64;
/** A call that the core has not answered by then is taken for lost, and its lane goes on. */
const ANSWER_WITHIN_MS = 35_000;
const PAUSE_AFTER_FAILURE_MS = 500;
/** Shorter than the claim's lease: then another relay may have it. */
const GIVE_UP_AFTER_MS = 25_000;
/** Claims in flight at once, so that the engine's answers are not waited for one by one. */
const LANES = 2;

/** A relay that runs. */
export type Relay = { stop(): Promise<void> };

/** Hands what waits in the outbox over to the workflow engine, until it is stopped. */
export function startRelay(
  dispatch: Client<typeof DispatchService>,
  client: WorkflowClient,
  log: Log,
): Relay {
  const stopping = new AbortController();
  const { signal } = stopping;
  const lanes = Array.from({ length: LANES }, () => runLane());
  return {
    async stop() {
      stopping.abort();
      await Promise.all(lanes);
    },
  };

  async function runLane(): Promise<void> {
    while (!signal.aborted) {
      try {
        const claim = { limit: CLAIMED_AT_ONCE, wait: durationFromMs(SWEEP_MS) };
        const options = { signal, timeoutMs: SWEEP_MS + ANSWER_WITHIN_MS };
        const claimed = claimedFrom(await dispatch.claimDeliveries(claim, options));
        const sequences = [...claimed.sequences, ...claimed.lost];
        if (sequences.length > 0) await handOver(claimed, sequences);
      } catch (cause) {
        if (signal.aborted) return;
        log.error("claim of deliveries failed", { cause });
        await pause();
      }
    }
  }

  /** The start is idempotent, so it is asked for until it is acknowledged; only then it is marked. */
  async function handOver(claimed: Claimed, sequences: readonly Sequence[]): Promise<void> {
    const giveUpAt = performance.now() + GIVE_UP_AFTER_MS;
    for (;;) {
      try {
        await startClaimed(client, claimed);
        break;
      } catch (cause) {
        log.error("start of deliveries failed", { cause, deliveries: sequences.length });
        if (signal.aborted || performance.now() > giveUpAt) return;
        await pause();
      }
    }
    const marked = { sequences: sequences.map(keyOf) };
    await dispatch.markHandedOver(marked, { timeoutMs: ANSWER_WITHIN_MS });
  }

  async function pause(): Promise<void> {
    await wait(PAUSE_AFTER_FAILURE_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** The claim's messages carry more than workflows are to know. */
function claimedFrom({ sequences, lost }: ClaimDeliveriesResponse): Claimed {
  return {
    sequences: sequences.map(keyOf),
    lost: lost.flatMap(({ sequence, attempt }) =>
      sequence ? [{ ...keyOf(sequence), attempt }] : [],
    ),
  };
}

function keyOf({ deliveryId, sequence }: Sequence): Sequence {
  return { deliveryId, sequence };
}
