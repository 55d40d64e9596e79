import { setTimeout as wait } from "node:timers/promises";
import type { Decision, Reached } from "./harness-process.ts";

/** What befalls an event at its first delivery that gets so far. */
const Fault = {
  None: "none",
  /** SIGKILL with the effect written and not committed. */
  KilledBeforeCommit: "killed before commit",
  /** SIGKILL with the effect committed and no byte of the answer sent. */
  KilledBeforeAnswer: "killed before answer",
  /** The work throws after its effect was written. */
  WorkFails: "work fails",
  /** The same signed request comes many times more while the first one is at work. */
  Repeated: "repeated meanwhile",
  /** As above, and then the first one fails: one of the others does the work. */
  RepeatedAndFails: "repeated meanwhile and failing",
  /** The answer is ready only when the sender waits no more. */
  AnswersLate: "answers late",
} as const;
export const FAULTS = Object.values(Fault).filter((fault) => fault !== Fault.None);
export type Fault = (typeof Fault)[keyof typeof Fault];

/** What befalls events, by the order in which they first reach a receiver, over and over. */
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
  /** A late answer is one only where no kill comes first. */
  withoutKills: [Fault.AnswersLate, Fault.None, Fault.WorkFails, Fault.None],
  nothing: [],
} as const satisfies Record<string, readonly Fault[]>;

const FRESH_SECONDS = 240;
const COPIES = 8;
/** The sender waits ten seconds. §6.4 */
const LATE_MS = 10_500;

/** Creates the faults of one receiver; `sendCopy` sends an event's request once more. */
export function createFaults(
  sendCopy: (eventId: string, rawHeaders: readonly string[]) => Promise<number>,
) {
  const faultByEvent = new Map<string, Fault>();
  const happened = new Map<Fault, string[]>();
  const headersByEvent = new Map<string, readonly string[]>();
  const requestsByEvent = new Map<string, number>();
  let plan: readonly Fault[] = PLANS.nothing;

  function onRequest({ eventId, rawHeaders = [] }: Reached): void {
    headersByEvent.set(eventId, rawHeaders);
    requestsByEvent.set(eventId, (requestsByEvent.get(eventId) ?? 0) + 1);
    // A retry that fails once more waits five minutes: it shall succeed. §6.4
    if (headerOf(rawHeaders, "service-attempt") !== "1") faultByEvent.set(eventId, Fault.None);
    else if (!faultByEvent.has(eventId)) {
      faultByEvent.set(eventId, plan[faultByEvent.size % plan.length] ?? Fault.None);
    }
  }

  /** Returns which of these faults is due for the event; each befalls an event once. */
  function take(eventId: string, ...faults: readonly Fault[]): Fault | undefined {
    const fault = faultByEvent.get(eventId);
    if (fault === undefined || !faults.includes(fault) || !plan.includes(fault)) return undefined;
    faultByEvent.set(eventId, Fault.None);
    happened.set(fault, [...(happened.get(fault) ?? []), eventId]);
    return fault;
  }

  /** Has copies arrive at the receiver; their answers wait for the one that is at work. */
  async function repeat(eventId: string): Promise<void> {
    const before = requestsByEvent.get(eventId) ?? 0;
    for (let copy = 0; copy < COPIES; copy++) {
      void sendCopy(eventId, headersByEvent.get(eventId) ?? []);
    }
    const giveUpAt = performance.now() + 2_000; // A kill meanwhile lets none arrive.
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
    /** Those that happened, each with the events it befell. */
    happened: happened as ReadonlyMap<Fault, readonly string[]>,
    /** Whether each fault of a plan happened. */
    allHappened: (name: keyof typeof PLANS) =>
      PLANS[name].every((fault) => fault === Fault.None || happened.has(fault)),
    /** The headers that each event last came with. */
    headersByEvent: headersByEvent as ReadonlyMap<string, readonly string[]>,
    async decide(reached: Reached): Promise<Decision> {
      if (reached.point === "before_commit") return decideBeforeCommit(reached.eventId);
      if (reached.point === "before_answer") return decideBeforeAnswer(reached.eventId);
      onRequest(reached);
      return "go";
    },
    /** The events that last came less than four minutes ago: their requests still verify. §6.3 */
    freshEventIds: (nowMs: number) =>
      [...headersByEvent]
        .filter(([, rawHeaders]) => {
          const seconds = Number(headerOf(rawHeaders, "service-timestamp"));
          return nowMs / 1000 - seconds < FRESH_SECONDS;
        })
        .map(([eventId]) => eventId),
    /** What befalls events from now on. */
    follow(name: keyof typeof PLANS) {
      plan = PLANS[name];
    },
  };
}

function headerOf(rawHeaders: readonly string[], lowerCaseName: string): string | undefined {
  const at = rawHeaders.findIndex((text) => text.toLowerCase() === lowerCaseName);
  return at < 0 ? undefined : rawHeaders[at + 1];
}
