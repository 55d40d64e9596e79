import type { Random } from "./random.ts";
import type { Action, Scenario } from "./scenario.ts";

/** What a kind of scenario adds or replaces. `dispatchers` is the least number. */
export type Kind = Partial<Pick<Scenario, "actions" | "frozen" | "dispatchers" | "faultShare">>;

type Size = { readonly seed: number; readonly accounts: readonly number[]; readonly span: number };

const SECOND_MS = 1_000;
const CROWD = 80;
/** With this lag, an attempt that times out is recorded only after its lease has ended. */
const MAX_LAG_MS = 6_000;
/** The highest share is far above that of any network, so that many faults coincide. */
const FAULT_SHARES = [0, 0.02, 0.08, 0.25];
/** Actions within this time are close to each other. */
const CLOSE_MS = 60 * SECOND_MS;
const OUTAGES = 12;
const OUTAGE_EVERY_MS = 90 * SECOND_MS;
const CLAIMS = 12;
const CLAIM_EVERY_MS = 40 * SECOND_MS;

/**
 * Draws a kind. Of ten scenarios two have a frozen fault, two an owner who switches an endpoint and retries, two a
 * restored database, one leases that end early, and one outages. One of thirty has claims that are lost.
 */
export function drawKind(random: Random, size: Size): Kind {
  switch (size.seed % 5) {
    case 1:
      return random.chance(0.6) ? drawHanging(random, size) : drawCut(random, size);
    case 2:
      return drawRetries(random, size);
    case 3:
      // Seed 143 keeps its scenario without early ends, because that scenario once found a bug.
      return size.seed % 2 === 1 && size.seed !== 143 ? drawEarlyEnds(random, size) : {};
    case 4:
      return drawRestore(random, size);
    default:
      if (size.seed % 2 === 1) return drawOutages(random, size);
      return size.seed % 30 === 0 ? drawClaims(random, size) : {};
  }
}

/** The database fails or the core dies while attempts are in flight, so that leases end with nothing recorded. */
function drawOutages(random: Random, { accounts }: Size): Kind {
  const { endpoint, account } = drawEndpoint(random, accounts);
  const rounds = Array.from({ length: OUTAGES }, (_, round) => {
    const atMs = round * OUTAGE_EVERY_MS + random.below(5 * SECOND_MS);
    const behaviour = random.pick(["hangs", "is slow"] as const);
    const kind = random.pick(["read-only", "read-only", "database away", "kill core"] as const);
    const outageMs = atMs + random.below(9 * SECOND_MS);
    const forMs = 15 * SECOND_MS + random.below(25 * SECOND_MS);
    const backMs = outageMs + forMs + random.below(2 * SECOND_MS);
    const againMs = backMs + random.below(9 * SECOND_MS);
    const againForMs = 8 * SECOND_MS + random.below(12 * SECOND_MS);
    return [
      { atMs, kind: "behave", endpoint, behaviour },
      { atMs, kind: "donate", account, events: 1 + random.below(3) },
      { atMs: outageMs, kind, forMs },
      // Another outage follows while dispatchers record attempts that ended during the first outage.
      { atMs: backMs, kind: "donate", account, events: 1 },
      { atMs: againMs, kind: "database away", forMs: againForMs },
    ] satisfies Action[];
  });
  // All faults end with the last action.
  const atMs = OUTAGES * OUTAGE_EVERY_MS;
  const end: Action = { atMs, kind: "behave", endpoint, behaviour: "answers" };
  return { actions: [...rounds.flat(), end], dispatchers: 2, faultShare: 0 };
}

/** Two dispatchers claim the same runs, and many claims are lost. */
function drawClaims(random: Random, { accounts }: Size): Kind {
  const { endpoint, account } = drawEndpoint(random, accounts);
  const rounds = Array.from({ length: CLAIMS }, (_, round) => {
    const atMs = round * CLAIM_EVERY_MS;
    const againMs = atMs + 6 * SECOND_MS + random.below(4 * SECOND_MS);
    return [
      { atMs, kind: "behave", endpoint, behaviour: "refuses" },
      { atMs: atMs + 100, kind: "donate", account, events: 3 },
      { atMs: atMs + 3 * SECOND_MS, kind: "behave", endpoint, behaviour: "hangs" },
      { atMs: atMs + 4 * SECOND_MS, kind: "retry all", account },
      { atMs: againMs, kind: "retry all", account },
    ] satisfies Action[];
  });
  return { actions: rounds.flat(), dispatchers: 2, faultShare: 0.25 };
}

/** An endpoint hangs forever, and gets more events. */
function drawHanging(random: Random, { accounts, span }: Size): Kind {
  const { endpoint, account } = drawEndpoint(random, accounts);
  const closeMs = Math.min(span, CLOSE_MS);
  const frozen = { atMs: random.below(closeMs), kind: "hangs", endpoint } as const;
  const faultShare = random.pick(FAULT_SHARES);
  const donations = Array.from({ length: 2 + random.below(4) }, () => ({
    ...{ atMs: random.below(closeMs), kind: "donate" as const, account },
    events: CROWD / 4 + random.below(CROWD / 2),
  }));
  const lag: Action = {
    ...{ atMs: random.below(closeMs), kind: "lag", dispatcher: 0 },
    ...{ lagMs: random.below(MAX_LAG_MS), forMs: random.below(CLOSE_MS) },
  };
  return { actions: random.chance(0.5) ? [...donations, lag] : donations, frozen, faultShare };
}

/** One of two dispatchers is cut off from the core forever, in one direction. */
function drawCut(random: Random, { span }: Size): Kind {
  const kind = drawDirection(random);
  const frozen = { atMs: random.below(span), kind, dispatcher: random.below(2) };
  return { frozen, dispatchers: 2 };
}

/**
 * The database's clock steps, mostly ahead, while attempts are in flight, so that leases end early. The next event
 * makes a dispatcher claim at once.
 */
function drawEarlyEnds(random: Random, { accounts, span }: Size): Kind {
  const { endpoint, account } = drawEndpoint(random, accounts);
  const closeMs = Math.min(span, CLOSE_MS);
  const actions = Array.from({ length: 6 + random.below(6) }, () => {
    const atMs = random.below(closeMs);
    const stepMs = atMs + SECOND_MS + random.below(4 * SECOND_MS);
    const donate = { kind: "donate", account, events: 1 + random.below(3) } as const;
    return [
      { atMs, kind: "behave", endpoint, behaviour: "is slow" },
      { atMs, ...donate },
      { atMs: stepMs, kind: "step clock", toMs: random.below(10) * 30 * SECOND_MS },
      { atMs: stepMs + random.below(SECOND_MS), ...donate },
    ] satisfies Action[];
  });
  return { actions: actions.flat(), faultShare: 0.25 };
}

/** The database is backed up, and restored later. */
function drawRestore(random: Random, { span }: Size): Kind {
  const [one, other] = [random.below(span), random.below(span)];
  return {
    actions: [
      { atMs: Math.min(one, other), kind: "back up" },
      { atMs: Math.max(one, other), kind: "restore" },
    ],
  };
}

/**
 * An owner switches an endpoint off and on and retries, while a dispatcher is cut off from the core. The core dies
 * while it begins the runs.
 */
function drawRetries(random: Random, { accounts, span }: Size): Kind {
  const { endpoint, account } = drawEndpoint(random, accounts);
  const closeMs = Math.min(span, CLOSE_MS);
  const faultShare = random.pick(FAULT_SHARES);
  const actions = Array.from({ length: 3 + random.below(4) }, () => {
    const atMs = random.below(closeMs);
    const offMs = atMs + random.below(20 * SECOND_MS);
    const onMs = offMs + random.below(20 * SECOND_MS);
    const retryMs = onMs + random.below(5 * SECOND_MS);
    const direction = drawDirection(random);
    const behaviour = random.pick(["hangs", "refuses", "is slow", "is busy"] as const);
    return [
      { atMs, kind: "behave", endpoint, behaviour },
      { atMs, kind: "donate", account, events: 1 + random.below(3) },
      {
        atMs: atMs + random.below(10 * SECOND_MS),
        kind: direction,
        dispatcher: random.below(2),
        forMs: random.below(2 * CLOSE_MS),
      },
      // Makes both writes of the account at the same time.
      { atMs: offMs, kind: "donate", account, events: 1 },
      { atMs: offMs, kind: "switch off", endpoint },
      { atMs: onMs, kind: "switch on", endpoint },
      { atMs: retryMs, kind: "retry all", account },
      { atMs: retryMs + random.below(60), kind: "kill core", forMs: random.below(5 * SECOND_MS) },
    ] satisfies Action[];
  });
  return { actions: actions.flat(), dispatchers: 2, faultShare };
}

const drawDirection = (random: Random) =>
  random.chance(0.5) ? ("cut there" as const) : ("cut back" as const);

/** Draws an endpoint and its account, each by its number. */
function drawEndpoint(random: Random, accounts: readonly number[]) {
  const owners = accounts.flatMap((count, account) => Array.from({ length: count }, () => account));
  const endpoint = random.below(owners.length);
  return { endpoint, account: owners[endpoint] ?? 0 };
}
