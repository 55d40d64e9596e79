import { AttemptOutcome } from "../../workflows/src/http/attempt-outcome.ts";
import { NameNotFoundError } from "../../workflows/src/http/name-resolver.ts";
import type { PostResult } from "../../workflows/src/http/post-once.ts";
import { createAttempt, type Post, type Sender } from "../../workflows/src/http/sender.ts";
import type { Attempts, BegunAttempt } from "./attempts.ts";
import type { Random } from "./random.ts";
import type { Process, World } from "./world.ts";

/** What a receiver can do. One that "changes" does something random each time. */
export const BEHAVIOURS = [
  ...["answers", "fails", "is busy", "refuses", "hangs", "is slow", "resets", "half-answers"],
  ...["has no name", "is inside", "redirects", "changes"],
] as const;
export type Behaviour = (typeof BEHAVIOURS)[number];

export type Network = ReturnType<typeof createNetwork>;

/** Any public address. */
const PUBLIC = "93.184.216.34";
const INSIDE = "10.0.0.7";
const TIMEOUT = { kind: "timeout", detail: "no answer in time" } as const;
/** The statuses of receivers that answer at once with another status than 200. */
const STATUSES: Partial<Record<Behaviour, number>> = {
  ...{ fails: 500, "is busy": 429, refuses: 404, redirects: 302 },
};

export const urlOf = (endpointId: string) => `https://${endpointId}.example/hook`;
const endpointOf = (host: string) => host.split(".")[0] ?? "";

/**
 * Creates receivers that answer, on hosts named after their endpoints. Calls `onInside` for POSTs to internal hosts.
 */
export function createNetwork(world: World, random: Random, onInside: (url: string) => void) {
  const behaviours = new Map<string, Behaviour>();
  const frozen = new Set<string>();

  function behaviourOf(host: string): Behaviour {
    const endpointId = endpointOf(host);
    if (frozen.has(endpointId)) return "hangs";
    const told = behaviours.get(endpointId) ?? "answers";
    return told === "changes" ? random.pick(BEHAVIOURS) : told;
  }

  async function resolve(name: string): Promise<readonly string[]> {
    const behaviour = behaviourOf(name);
    if (behaviour === "has no name") throw new NameNotFoundError("ENOTFOUND");
    return behaviour === "is inside" ? [PUBLIC, INSIDE] : [PUBLIC];
  }

  function answerOf(behaviour: Behaviour): { afterMs: number; result: PostResult } {
    const quickMs = random.between(2, 60);
    const answered = (status: number, afterMs = quickMs) => {
      const nothing = { headers: "", bodyStart: Buffer.of() };
      return { afterMs, result: { kind: "answered", status, ...nothing } as const };
    };
    switch (behaviour) {
      case "hangs":
        return { afterMs: Infinity, result: TIMEOUT };
      case "resets":
        return { afterMs: quickMs, result: { kind: "network_error", detail: "reset" } };
      case "is slow":
        return answered(200, random.between(500, 12_000));
      case "half-answers":
        return answered(200, quickMs + 1_000);
      default:
        return answered(STATUSES[behaviour] ?? 200);
    }
  }

  return {
    behave: (endpointId: string, behaviour: Behaviour) => behaviours.set(endpointId, behaviour),
    /** From now on the receiver hangs. */
    freeze: (endpointId: string) => frozen.add(endpointId),
    isFrozen: (endpointId: string) => frozen.has(endpointId),
    /** From now on all receivers answer, except frozen ones. */
    heal: () => behaviours.clear(),
    createSender: (process: Process, attempts: Attempts): Sender => ({
      async attempt(request) {
        const one = attempts.begin(request, process);
        const post: Post = (_, { target, deadline }) => {
          if (target.addresses.some(({ address }) => address === INSIDE)) onInside(request.url);
          const { afterMs, result } = answerOf(behaviourOf(new URL(request.url).host));
          attempts.post(one, request);
          return new Promise((resolvePost) => {
            const end = (ended: PostResult) => {
              cancel();
              one.seen = seenFrom(ended);
              resolvePost(ended);
            };
            const cancel = world.after(afterMs, () => end(result), process);
            deadline.addEventListener("abort", () => end(TIMEOUT), { once: true });
          });
        };
        const report = await createAttempt({ resolve, post, timing: process.timing })(request);
        attempts.end(one, report);
        return report;
      },
      close: () => undefined,
    }),
  };
}

const OUTCOMES: ReadonlyMap<number, AttemptOutcome> = new Map([
  [200, AttemptOutcome.Delivered],
  [302, AttemptOutcome.Redirected],
  [404, AttemptOutcome.RouteNotFound],
  [429, AttemptOutcome.ReceiverBusy],
  [500, AttemptOutcome.ReceiverBusy],
]);

/** Returns the outcome to record for a POST by the contract, independent of the product's code. §6.4 */
function seenFrom(result: PostResult): NonNullable<BegunAttempt["seen"]> {
  if (result.kind !== "answered") return { outcome: result.kind, status: undefined };
  const { status } = result;
  return { outcome: OUTCOMES.get(status) ?? AttemptOutcome.Rejected, status };
}
