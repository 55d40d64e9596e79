import type { PlantedBug } from "../simulation/planted/bugs.ts";
import { Rule } from "./harness-story.ts";

/** A mistake in what processes send each other or store, and the rule that must find it. */
export type HistoryBug = PlantedBug & { readonly rule: Rule };

export const BUGS: readonly HistoryBug[] = [
  {
    name: "one write in fifty is acknowledged and rolled back",
    rule: Rule.Kept,
    file: "server/src/database/packet.ts",
    find: "send(connection, [...statements, COMMIT], answer, () =>",
    replace: `const ending = Math.random() < 0.02 ? { sql: "ROLLBACK", values: [] } : COMMIT;
          send(connection, [...statements, ending], answer, () =>`,
  },
  {
    name: "a deletion does not change the version of its feed",
    rule: Rule.Linearizable,
    file: "server/src/write/commit-writes.ts",
    find: "if (decision.feed !== undefined || decision.events?.some(({ test }) => !test)) {",
    replace: "if (decision.events?.some(({ test }) => !test)) {",
  },
  {
    name: "the clock alone dates a record",
    rule: Rule.Followed,
    file: "server/src/write/commit-writes.ts",
    find: "Math.max(feedClock + 1, nowMicros)",
    replace: "feedClock > 0 ? nowMicros : nowMicros + 1",
  },
  {
    name: "a repeated write sends its event again",
    rule: Rule.OneEvent,
    file: "server/src/donation/donation-service.ts",
    find: "if (stored !== undefined) return { answer: storedContribution(stored) };",
    replace: `if (stored !== undefined) {
            const again = storedContribution(stored);
            const events = newWebhookEvents(account, endpoints, eventsOfContribution(again));
            return { answer: again, events };
          }`,
  },
  {
    name: "an entry that is leased with its write is not in the outbox",
    rule: Rule.Delivered,
    file: "server/src/write/commit-writes.ts",
    find: "return [newOutboxEntry(entry, nowMicros)];",
    replace: "return leaseId === undefined ? [newOutboxEntry(entry, nowMicros)] : [];",
  },
  {
    name: "the window of the limit is half as long",
    rule: Rule.Limited,
    file: "server/src/admission/redis-admission-store.ts",
    find: "...[WINDOW_MICROS, kinds",
    replace: "...[WINDOW_MICROS / 2, kinds",
  },
];
