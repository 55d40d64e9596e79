import { BEHAVIOURS, type Behaviour } from "./network.ts";
import { createStreams, type Random } from "./random.ts";
import { drawKind } from "./scenario-kinds.ts";
import { THIS_VERSION, type Version } from "./version.ts";

type Of<Kind extends string, Fields = unknown> = { readonly kind: Kind } & Readonly<Fields>;

export type OwnerWrite =
  | Of<"donate", { account: number; events: number }>
  | Of<"switch off" | "switch on" | "rotate" | "remove", { endpoint: number }>
  | Of<"block" | "unblock" | "retry all", { account: number }>
  | Of<"erase" | "retry", { pick: number }>;

type DispatcherFault = "kill dispatcher" | "stop dispatcher" | "cut there" | "cut back";

/** What somebody does, or what happens to the product. */
type UndatedAction =
  | OwnerWrite
  | Of<"behave", { endpoint: number; behaviour: Behaviour }>
  | Of<"forget", { pick: number }>
  | Of<DispatcherFault, { dispatcher: number; forMs: number }>
  | Of<"kill core" | "read-only" | "database away" | "Temporal away", { forMs: number }>
  /** Delays each message between a dispatcher and the core. */
  | Of<"lag", { dispatcher: number; lagMs: number; forMs: number }>
  | Of<"refuse", { pick: number; forMs: number }>
  | Of<"step clock", { toMs: number }>
  /** Only the database has backups. A restore does not change Temporal. */
  | Of<"back up" | "restore">;

export type Action = { readonly atMs: number } & UndatedAction;

/** A fault that never heals. All deliveries must still end, except those to an endpoint that hangs. */
export type Frozen = { readonly atMs: number } & (
  | Of<"hangs", { endpoint: number }>
  | Of<"cut there" | "cut back", { dispatcher: number }>
);

/** The input of a simulation. The same scenario always gives the same result. */
export type Scenario = {
  readonly seed: number;
  /** The number of endpoints of each account. */
  readonly accounts: readonly number[];
  readonly dispatchers: number;
  /** Each start of a dispatcher picks one of these versions. */
  readonly versions: readonly Version[];
  /** The share of messages that have a fault. */
  readonly faultShare: number;
  /** The names of faults that do not happen. */
  readonly skipped: readonly string[];
  readonly actions: readonly Action[];
  readonly frozen: Frozen | undefined;
  /** When all faults end, except `frozen`, and all other receivers answer. */
  readonly healsAtMs: number;
};

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const SPANS_MS = [30 * SECOND_MS, 3 * MINUTE_MS, 20 * MINUTE_MS, 3 * HOUR_MS, 30 * HOUR_MS];
const FAULT_SHARES = [0, 0, 0.005, 0.02, 0.08];
const MAX_ACTIONS = 40;
/** More events than an endpoint may have attempts in flight. */
const BURST = 80;

/** Draws the scenario of a seed. */
export function drawScenario(seed: number, versions: readonly Version[] = [THIS_VERSION]) {
  const random = createStreams(seed)("scenario");
  const span = random.pick(SPANS_MS);
  const accounts = Array.from({ length: 1 + random.below(3) }, () => 1 + random.below(2));
  const drawnDispatchers = 1 + random.below(2);
  const count = 3 + random.below(MAX_ACTIONS);
  const endpoints = accounts.reduce((sum, number) => sum + number);
  const size = { accounts: accounts.length, endpoints, dispatchers: drawnDispatchers, span };
  const drawn = Array.from({ length: count }, () => ({
    ...drawAction(random, size),
    atMs: Math.floor(random.next() ** 2 * span),
  }));
  const drawnShare = random.pick(FAULT_SHARES);
  const kind = drawKind(createStreams(seed)("kind"), { seed, accounts, span });
  const { frozen, dispatchers: needed = 1, faultShare = drawnShare } = kind;
  const actions = [...drawn, ...(kind.actions ?? [])].sort((one, other) => one.atMs - other.atMs);
  const dispatchers = Math.max(drawnDispatchers, needed);
  const healsAtMs = Math.max(span, (actions.at(-1)?.atMs ?? 0) + 1);
  const drawnOnce = { seed, accounts, dispatchers, versions, faultShare, actions, frozen };
  return { ...drawnOnce, skipped: [], healsAtMs };
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
  const behaviour = random.pick(BEHAVIOURS);
  const longMs = Math.floor(random.next() ** 2 * Math.min(span, 2 * HOUR_MS));
  const toMs = Math.floor(random.between(-1, 1) * (random.chance(0.5) ? HOUR_MS : 20 * SECOND_MS));
  const each = <Kind extends string, Fields>(kinds: readonly Kind[], fields: Fields) =>
    kinds.map((kind) => ({ kind, ...fields }));
  const actions: readonly UndatedAction[] = [
    ...Array<UndatedAction>(8).fill({ kind: "donate", account, events }),
    ...Array<UndatedAction>(6).fill({ kind: "behave", endpoint, behaviour }),
    ...each(["switch off", "switch on", "rotate"], { endpoint }),
    ...each(["block", "unblock", "retry all"], { account }),
    ...each(["erase", "retry", "retry", "forget"], { pick }),
    ...each(["kill dispatcher", "stop dispatcher", "cut there", "cut back"], { dispatcher, forMs }),
    ...each(["kill core", "read-only", "database away"], { forMs }),
    { kind: "Temporal away", forMs: longMs },
    { kind: "refuse", pick, forMs },
    { kind: "step clock", toMs },
    { kind: "remove", endpoint },
  ];
  const action = random.pick(actions);
  // A removed endpoint does not return, so few are removed.
  return action.kind === "remove" && !random.chance(0.3)
    ? ({ kind: "retry", pick } as const)
    : action;
}
