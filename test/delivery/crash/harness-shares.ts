import { createHash } from "node:crypto";
import { headerOf } from "../harness-deliveries.ts";
import type { Behaviour } from "../harness-receiver.ts";
import { answer } from "../harness-receiver-behaviours.ts";

/** What a receiver does with events, by shares of them. */
export type Shares = {
  /** Fails the first attempt, so that a retry is due a minute later. */
  readonly failing: number;
  /** Answers late, so that an attempt is in flight. */
  readonly slow: number;
};

const SLOWEST_MS = 2_000;

/** Answers as the shares say; the same event is always treated alike. */
export function byShares({ failing, slow }: Shares): Behaviour {
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

/** A number from 0 to 1 that an id always has. */
function shareOf(id: string): number {
  return createHash("sha256").update(id).digest().readUInt32BE(0) / 2 ** 32;
}
