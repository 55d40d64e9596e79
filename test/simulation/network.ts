import { AttemptOutcome } from "../../workflows/src/http/attempt-outcome.ts";
import { NameNotFoundError } from "../../workflows/src/http/name-resolver.ts";
import type { PostRequest, PostResult } from "../../workflows/src/http/post-once.ts";
import { createAttempt, type Sender } from "../../workflows/src/http/sender.ts";
import type { Attempts, BegunAttempt } from "./attempts.ts";
import type { Random } from "./random.ts";
import type { Process, World } from "./world.ts";

/** What receivers do. */
export const BEHAVIOURS = [
  ...["answers", "fails", "is busy", "refuses", "hangs", "is slow", "resets", "half-answers"],
  ...["has no name", "is inside", "redirects", "changes"],
] as const;
export type Behaviour = (typeof BEHAVIOURS)[number];

/** All receivers, by endpoint: each has a host of its name. */
export type Network = {
  behave(endpointId: string, behaviour: Behaviour): void;
  /** From now on it hangs, whatever it is told. */
  freeze(endpointId: string): void;
  isFrozen(endpointId: string): boolean;
  /** From now on all answer that do not hang for ever. */
  heal(): void;
  /** Creates what makes a dispatcher's attempts over it. */
  createSender(process: Process, attempts: Attempts): Sender;
};

/** Any address that is public. */
const PUBLIC = "93.184.216.34";
const INSIDE = "10.0.0.7";

export const urlOf = (endpointId: string) => `https://${endpointId}.example/hook`;
const endpointOf = (host: string) => host.split(".")[0] ?? "";

/** Creates receivers that answer. `onInside` hears of each POST that could reach an address inside. */
export function createNetwork(
  world: World,
  random: Random,
  onInside: (url: string) => void,
): Network {
  const behaviours = new Map<string, Behaviour>();
  const frozen = new Set<string>();

  function behaviourOf(endpointId: string): Behaviour {
    if (frozen.has(endpointId)) return "hangs";
    const told = behaviours.get(endpointId) ?? "answers";
    return told === "changes" ? random.pick(BEHAVIOURS as unknown as [Behaviour]) : told;
  }

  async function resolve(name: string): Promise<readonly string[]> {
    const behaviour = behaviourOf(endpointOf(name));
    if (behaviour === "has no name") throw new NameNotFoundError("ENOTFOUND");
    return behaviour === "is inside" ? [PUBLIC, INSIDE] : [PUBLIC];
  }

  function answered(afterMs: number, status: number) {
    const nothing = { headers: "", bodyStart: Buffer.of() };
    return { afterMs, result: { kind: "answered", status, ...nothing } as const };
  }

  function answerOf(behaviour: Behaviour): { afterMs: number; result: PostResult } {
    const quickMs = random.between(2, 60);
    switch (behaviour) {
      case "fails":
        return answered(quickMs, 500);
      case "is busy":
        return answered(quickMs, 429);
      case "refuses":
        return answered(quickMs, 404);
      case "redirects":
        return answered(quickMs, 302);
      case "is slow":
        return answered(random.between(500, 12_000), 200);
      case "half-answers":
        return answered(quickMs + 1_000, 200);
      case "hangs":
        return { afterMs: Infinity, result: { kind: "timeout", detail: "no answer in time" } };
      case "resets":
        return { afterMs: quickMs, result: { kind: "network_error", detail: "reset" } };
      default:
        return answered(quickMs, 200);
    }
  }

  return {
    behave: (endpointId, behaviour) => behaviours.set(endpointId, behaviour),
    freeze: (endpointId) => frozen.add(endpointId),
    isFrozen: (endpointId) => frozen.has(endpointId),
    heal: () => behaviours.clear(),
    createSender(process, attempts) {
      const begun = new Map<PostRequest["headers"], BegunAttempt>();
      const attempt = createAttempt({
        resolve,
        timing: process.timing,
        post(request, { target, deadline }) {
          if (target.addresses.some(({ address }) => address === INSIDE)) onInside(request.url);
          const one = begun.get(request.headers);
          const { afterMs, result } = answerOf(behaviourOf(endpointOf(new URL(request.url).host)));
          if (one !== undefined) attempts.post(one, request);
          return new Promise((resolvePost) => {
            const end = (ended: PostResult) => {
              cancel();
              if (one !== undefined) one.seen = seenFrom(ended);
              resolvePost(ended);
            };
            const cancel = world.after(afterMs, () => end(result), process);
            const late = { kind: "timeout", detail: "no answer in time" } as const;
            deadline.addEventListener("abort", () => end(late), { once: true });
          });
        },
      });
      return {
        async attempt(request) {
          const one = attempts.begin(request, process);
          begun.set(request.headers, one);
          const report = await attempt(request);
          begun.delete(request.headers);
          attempts.end(one, report);
          return report;
        },
        close: () => undefined,
      };
    },
  };
}

/** What of an answer is to be recorded, told by the contract and not by the product. §6.4 */
function seenFrom(result: PostResult): BegunAttempt["seen"] {
  if (result.kind !== "answered") return { outcome: result.kind, status: undefined };
  const { status } = result;
  const outcomes = new Map([
    [200, AttemptOutcome.Delivered],
    [302, AttemptOutcome.Redirected],
    [404, AttemptOutcome.RouteNotFound],
    [429, AttemptOutcome.ReceiverBusy],
    [500, AttemptOutcome.ReceiverBusy],
  ]);
  return { outcome: outcomes.get(status) ?? AttemptOutcome.Rejected, status };
}
