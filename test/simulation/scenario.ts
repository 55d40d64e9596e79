import { BEHAVIOURS, type Behaviour } from "./network.ts";
import { createStreams, type Random } from "./random.ts";
import { drawKind } from "./scenario-kinds.ts";

/** Something that happens to the product, or that somebody does. */
export type Action = { readonly atMs: number } & (
  | { readonly kind: "donate"; readonly account: number; readonly events: number }
  | { readonly kind: "behave"; readonly endpoint: number; readonly behaviour: Behaviour }
  | { readonly kind: "switch off" | "switch on" | "rotate" | "remove"; readonly endpoint: number }
  | { readonly kind: "block" | "unblock"; readonly account: number }
  | { readonly kind: "erase" | "retry"; readonly pick: number }
  | { readonly kind: "retry all"; readonly account: number }
  | {
      readonly kind: "kill dispatcher" | "stop dispatcher" | "cut there" | "cut back";
      readonly dispatcher: number;
      readonly forMs: number;
    }
  | {
      readonly kind: "kill core" | "read-only" | "database away" | "Temporal away";
      readonly forMs: number;
    }
  | {
      /** Each message between a dispatcher and the core takes this much longer. */
      readonly kind: "lag";
      readonly dispatcher: number;
      readonly lagMs: number;
      readonly forMs: number;
    }
  | { readonly kind: "refuse"; readonly pick: number; readonly forMs: number }
  | { readonly kind: "forget"; readonly pick: number }
  | { readonly kind: "step clock"; readonly toMs: number }
  /** Of the database. Temporal goes on. */
  | { readonly kind: "back up" | "restore" }
);

/** A fault that never heals: everything else must go on. */
export type Frozen = { readonly atMs: number } & (
  | { readonly kind: "hangs"; readonly endpoint: number }
  | { readonly kind: "cut there" | "cut back"; readonly dispatcher: number }
);

/** All that a simulation begins with: the same scenario always comes to the same end. */
export type Scenario = {
  readonly seed: number;
  /** How many endpoints each account has. */
  readonly accounts: readonly number[];
  readonly dispatchers: number;
  /** What share of all messages something befalls. */
  readonly faultShare: number;
  /** Faults that would happen, and do not. */
  readonly skipped: readonly string[];
  readonly actions: readonly Action[];
  readonly frozen: Frozen | undefined;
  /** From then on nothing else goes wrong any more, and all other receivers answer. */
  readonly healsAtMs: number;
};

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const SPANS_MS = [
  30 * SECOND_MS,
  3 * MINUTE_MS,
  20 * MINUTE_MS,
  3 * HOUR_MS,
  30 * HOUR_MS,
] as const;
const FAULT_SHARES = [0, 0, 0.005, 0.02, 0.08] as const;
const MAX_ACTIONS = 40;
/** A burst fills an endpoint's share. */
const BURST = 80;

/** Draws a scenario. */
export function drawScenario(seed: number): Scenario {
  const random = createStreams(seed)("scenario");
  const span = random.pick(SPANS_MS);
  const accounts = Array.from({ length: 1 + random.below(3) }, () => 1 + random.below(2));
  const drawnDispatchers = 1 + random.below(2);
  const count = 3 + random.below(MAX_ACTIONS);
  const size = { accounts: accounts.length, endpoints: accounts.reduce((sum, n) => sum + n) };
  const drawn = Array.from({ length: count }, () => ({
    ...drawAction(random, { ...size, dispatchers: drawnDispatchers, span }),
    atMs: Math.floor(random.next() ** 2 * span),
  }));
  const drawnShare = random.pick(FAULT_SHARES);
  const kind = drawKind(createStreams(seed)("kind"), { seed, accounts, span });
  const actions = [...drawn, ...kind.actions].sort((one, other) => one.atMs - other.atMs);
  const dispatchers = Math.max(drawnDispatchers, kind.dispatchers);
  const { frozen, faultShare = drawnShare } = kind;
  const healsAtMs = Math.max(span, (actions.at(-1)?.atMs ?? 0) + 1);
  return { seed, accounts, dispatchers, faultShare, skipped: [], actions, frozen, healsAtMs };
}

type Size = {
  readonly accounts: number;
  readonly endpoints: number;
  readonly dispatchers: number;
  readonly span: number;
};

function drawAction(random: Random, { accounts, endpoints, dispatchers, span }: Size) {
  const account = random.below(accounts);
  const endpoint = random.below(endpoints);
  const pick = random.below(1_000);
  const dispatcher = random.below(dispatchers);
  const forMs = Math.floor(random.next() ** 2 * Math.min(span, 2 * MINUTE_MS));
  const events = random.chance(0.1) ? 1 + random.below(BURST) : 1 + random.below(3);
  const behaviour = random.pick(BEHAVIOURS as unknown as [Behaviour]);
  const longMs = Math.floor(random.next() ** 2 * Math.min(span, 2 * HOUR_MS));
  const toMs = Math.floor(random.between(-1, 1) * (random.chance(0.5) ? HOUR_MS : 20 * SECOND_MS));
  const atMs = 0;
  const draws: (() => Action)[] = [
    ...Array.from({ length: 8 }, () => () => ({ atMs, kind: "donate" as const, account, events })),
    ...Array.from({ length: 6 }, () => () => {
      return { atMs, kind: "behave" as const, endpoint, behaviour };
    }),
    ...(["switch off", "switch on", "rotate"] as const).map((kind) => () => ({
      atMs,
      kind,
      endpoint,
    })),
    ...(["block", "unblock", "retry all"] as const).map((kind) => () => ({ atMs, kind, account })),
    ...(["erase", "retry", "retry", "forget"] as const).map((kind) => () => ({ atMs, kind, pick })),
    ...(["kill dispatcher", "stop dispatcher", "cut there", "cut back"] as const).map(
      (kind) => () => ({ atMs, kind, dispatcher, forMs }),
    ),
    ...(["kill core", "read-only", "database away"] as const).map((kind) => () => ({
      atMs,
      kind,
      forMs,
    })),
    () => ({ atMs, kind: "Temporal away", forMs: longMs }),
    () => ({ atMs, kind: "refuse", pick, forMs }),
    () => ({ atMs, kind: "step clock", toMs }),
    () => (random.chance(0.3) ? { atMs, kind: "remove", endpoint } : { atMs, kind: "retry", pick }),
  ];
  return (
    draws[random.below(draws.length)]?.() ?? { atMs, kind: "donate" as const, account, events }
  );
}
