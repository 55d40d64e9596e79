import { setTimeout as wait } from "node:timers/promises";
import type { Decision, Reached } from "./harness-process.ts";

/** The fault that hits an event at its first delivery that gets so far. */
const Fault = {
  None: "none",
  /** SIGKILL after the effect was written and before the commit. */
  KilledBeforeCommit: "killed before commit",
  /** SIGKILL after the commit and before the first byte of the answer. */
  KilledBeforeAnswer: "killed before answer",
  /** The work throws after it wrote its effect. */
  WorkFails: "work fails",
  /** The same signed request arrives several times while the first one is processed. */
  Repeated: "repeated meanwhile",
  /** As `Repeated`, and then the first one fails. One of the others does the work. */
  RepeatedAndFails: "repeated meanwhile and failing",
  /** The answer comes after the sender's timeout. */
  AnswersLate: "answers late",
} as const;
export const FAULTS = Object.values(Fault).filter((fault) => fault !== Fault.None);
export type Fault = (typeof Fault)[keyof typeof Fault];

/** The faults of events, in the order of their first arrival, repeated in a cycle. */
export const PLANS = {
  withKills: [
    Fault.KilledBeforeAnswer,
    Fault.WorkFails,
    Fault.None,
    Fault.Repeated,
    Fault.None,
    Fault.KilledBeforeCommit,
    Fault.None,
    Fault.RepeatedAndFails,
  ],
  /** Without kills, because a kill could come before the late answer. */
  withoutKills: [Fault.AnswersLate, Fault.None, Fault.WorkFails, Fault.None],
  nothing: [],
} as const satisfies Record<string, readonly Fault[]>;

const FRESH_SECONDS = 240;
const COPIES = 8;
/** The sender's timeout is ten seconds. §6.4 */
const LATE_MS = 10_500;

/** Creates the faults of one receiver. `sendCopy` repeats an event's request. */
export function createFaults(
  sendCopy: (eventId: string, rawHeaders: readonly string[]) => Promise<number>,
) {
  const faultByEvent = new Map<string, Fault>();
  const happened = new Set<Fault>();
  const headersByEvent = new Map<string, readonly string[]>();
  const requestsByEvent = new Map<string, number>();
  let plan: readonly Fault[] = PLANS.nothing;

  function onRequest({ eventId, rawHeaders = [] }: Reached): void {
    headersByEvent.set(eventId, rawHeaders);
    requestsByEvent.set(eventId, (requestsByEvent.get(eventId) ?? 0) + 1);
    // A retry must succeed: the next one would come five minutes later. §6.4
    if (headerOf(rawHeaders, "service-attempt") !== "1") faultByEvent.set(eventId, Fault.None);
    else if (!faultByEvent.has(eventId)) {
      faultByEvent.set(eventId, plan[faultByEvent.size % plan.length] ?? Fault.None);
    }
  }

  /** Returns which of these faults the event gets now. Each event gets its fault once. */
  function take(eventId: string, ...faults: readonly Fault[]): Fault | undefined {
    const fault = faultByEvent.get(eventId);
    if (fault === undefined || !faults.includes(fault) || !plan.includes(fault)) return undefined;
    faultByEvent.set(eventId, Fault.None);
    happened.add(fault);
    return fault;
  }

  /** Sends copies of a request. Their answers wait until the first request is finished. */
  async function repeat(eventId: string): Promise<void> {
    const before = requestsByEvent.get(eventId) ?? 0;
    for (let copy = 0; copy < COPIES; copy++) {
      void sendCopy(eventId, headersByEvent.get(eventId) ?? []);
    }
    const giveUpAt = performance.now() + 2_000; // A kill may prevent their arrival.
    while ((requestsByEvent.get(eventId) ?? 0) < before + COPIES && performance.now() < giveUpAt) {
      await wait(5);
    }
  }

  async function decideBeforeCommit(eventId: string): Promise<Decision> {
    if (take(eventId, Fault.KilledBeforeCommit)) return "kill";
    if (take(eventId, Fault.WorkFails)) return "fail";
    const repeated = take(eventId, Fault.Repeated, Fault.RepeatedAndFails);
    if (repeated) await repeat(eventId);
    return repeated === Fault.RepeatedAndFails ? "fail" : "go";
  }

  async function decideBeforeAnswer(eventId: string): Promise<Decision> {
    if (take(eventId, Fault.KilledBeforeAnswer)) return "kill";
    if (take(eventId, Fault.AnswersLate)) await wait(LATE_MS);
    return "go";
  }

  return {
    /** The faults so far. */
    happened: happened as ReadonlySet<Fault>,
    /** Whether every fault of a plan has happened. */
    allHappened: (name: keyof typeof PLANS) =>
      PLANS[name].every((fault) => fault === Fault.None || happened.has(fault)),
    /** The latest headers of each event. */
    headersByEvent: headersByEvent as ReadonlyMap<string, readonly string[]>,
    async decide(reached: Reached): Promise<Decision> {
      if (reached.point === "before_commit") return decideBeforeCommit(reached.eventId);
      if (reached.point === "before_answer") return decideBeforeAnswer(reached.eventId);
      onRequest(reached);
      return "go";
    },
    /** The events whose latest request is under four minutes old, so that its signature still verifies. §6.3 */
    freshEventIds: (nowMs: number) =>
      [...headersByEvent]
        .filter(([, rawHeaders]) => {
          const seconds = Number(headerOf(rawHeaders, "service-timestamp"));
          return nowMs / 1000 - seconds < FRESH_SECONDS;
        })
        .map(([eventId]) => eventId),
    /** Sets the plan for new events. */
    follow(name: keyof typeof PLANS) {
      plan = PLANS[name];
    },
  };
}

function headerOf(rawHeaders: readonly string[], lowerCaseName: string): string | undefined {
  const at = rawHeaders.findIndex((text) => text.toLowerCase() === lowerCaseName);
  return at < 0 ? undefined : rawHeaders[at + 1];
}
