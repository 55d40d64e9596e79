import type { Random } from "./random.ts";
import type { Action, Frozen } from "./scenario.ts";

/** What a scenario of a kind has beside what is drawn for all. */
export type Kind = {
  readonly actions: readonly Action[];
  readonly frozen: Frozen | undefined;
  /** How many it needs. */
  readonly dispatchers: number;
  /** What share of all messages something befalls; what is drawn for all scenarios unless told. */
  readonly faultShare?: number | undefined;
};

type Size = {
  readonly seed: number;
  readonly accounts: readonly number[];
  readonly span: number;
};

const SECOND_MS = 1_000;
const CROWD = 80;
/** With it an attempt that times out is recorded when its lease is over. */
const MAX_LAG_MS = 6_000;
/** Up to far more than any network has: what goes wrong goes wrong at once. */
const FAULT_SHARES = [0, 0.02, 0.08, 0.25] as const;
/** Within this time things happen close to each other. */
const CLOSE_MS = 60 * SECOND_MS;

/**
 * Of five scenarios one has a fault that never heals, one an owner who switches an endpoint and retries, and one a
 * database that is restored.
 */
export function drawKind(random: Random, size: Size): Kind {
  switch (size.seed % 5) {
    case 1:
      return random.chance(0.6) ? drawHanging(random, size) : drawCut(random, size);
    case 2:
      return drawRetries(random, size);
    case 4:
      return drawRestore(random, size);
    default:
      return { actions: [], frozen: undefined, dispatchers: 1 };
  }
}

/** An endpoint hangs for ever, and its owner goes on to write for it. */
function drawHanging(random: Random, { accounts, span }: Size): Kind {
  const { endpoint, account } = drawEndpoint(random, accounts);
  const closeMs = Math.min(span, CLOSE_MS);
  const atMs = random.below(closeMs);
  const faultShare = random.pick(FAULT_SHARES);
  const donations = Array.from({ length: 2 + random.below(4) }, () => ({
    atMs: random.below(closeMs),
    kind: "donate" as const,
    ...{ account, events: CROWD / 4 + random.below(CROWD / 2) },
  }));
  const lag = {
    ...{ atMs: random.below(closeMs), kind: "lag" as const, dispatcher: 0 },
    ...{ lagMs: random.below(MAX_LAG_MS), forMs: random.below(CLOSE_MS) },
  };
  const actions: Action[] = random.chance(0.5) ? [...donations, lag] : donations;
  return { actions, frozen: { atMs, kind: "hangs", endpoint }, dispatchers: 1, faultShare };
}

/** One of two dispatchers and the core never hear each other again, one way. */
function drawCut(random: Random, { span }: Size): Kind {
  const kind = random.chance(0.5) ? ("cut there" as const) : ("cut back" as const);
  const atMs = random.below(span);
  return { actions: [], frozen: { atMs, kind, dispatcher: random.below(2) }, dispatchers: 2 };
}

/** A backup is taken, and restored later. */
function drawRestore(random: Random, { span }: Size): Kind {
  const [one, other] = [random.below(span), random.below(span)];
  const actions: Action[] = [
    { atMs: Math.min(one, other), kind: "back up" },
    { atMs: Math.max(one, other), kind: "restore" },
  ];
  return { actions, frozen: undefined, dispatchers: 1 };
}

/** An owner switches an endpoint off and on and retries, while a dispatcher does not hear the core. */
function drawRetries(random: Random, { accounts, span }: Size): Kind {
  const { endpoint, account } = drawEndpoint(random, accounts);
  const closeMs = Math.min(span, CLOSE_MS);
  const faultShare = random.pick(FAULT_SHARES);
  const actions = Array.from({ length: 3 + random.below(4) }, () => {
    const atMs = random.below(closeMs);
    const offMs = atMs + random.below(20 * SECOND_MS);
    const onMs = offMs + random.below(20 * SECOND_MS);
    const cut = random.chance(0.5) ? ("cut there" as const) : ("cut back" as const);
    const behaviour = random.pick(["hangs", "refuses", "is slow", "is busy"] as const);
    return [
      { atMs, kind: "behave", endpoint, behaviour },
      { atMs, kind: "donate", account, events: 1 + random.below(3) },
      {
        ...{ atMs: atMs + random.below(10 * SECOND_MS), kind: cut, dispatcher: random.below(2) },
        forMs: random.below(2 * CLOSE_MS),
      },
      { atMs: offMs, kind: "switch off", endpoint },
      { atMs: onMs, kind: "switch on", endpoint },
      { atMs: onMs + random.below(5 * SECOND_MS), kind: "retry all", account },
    ] satisfies Action[];
  });
  return { actions: actions.flat(), frozen: undefined, dispatchers: 2, faultShare };
}

/** Draws an endpoint and its account, each by its number. */
function drawEndpoint(random: Random, accounts: readonly number[]) {
  const owners = accounts.flatMap((count, account) => Array.from({ length: count }, () => account));
  const endpoint = random.below(owners.length);
  return { endpoint, account: owners[endpoint] ?? 0 };
}
