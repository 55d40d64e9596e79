import { createHash } from "node:crypto";
import { headerOf } from "../harness-deliveries.ts";
import type { Behaviour } from "../harness-receiver.ts";
import { answer } from "../harness-receiver-behaviours.ts";

const SLOWEST_MS = 2_000;

/**
 * Fails the first attempt of a share of the events, so that their retries are due a minute later. Answers another share
 * late, so that attempts stay in flight. An event is always treated alike.
 */
export function byShares({ failing, slow }: { failing: number; slow: number }): Behaviour {
  return (socket, request) => {
    const share = shareOf(headerOf(request, "Service-Event-Id"));
    const isFirst = headerOf(request, "Service-Attempt") === "1";
    if (share < failing && isFirst) return answer(500)(socket, request);
    const accept = () => {
      if (!socket.destroyed) answer(200)(socket, request);
    };
    if (share < 1 - slow) accept();
    else setTimeout(accept, SLOWEST_MS * ((1 - share) / slow));
  };
}

/** Maps an id to a fixed number of at least 0 and below 1. */
function shareOf(id: string): number {
  return createHash("sha256").update(id).digest().readUInt32BE(0) / 2 ** 32;
}
