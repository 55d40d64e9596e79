/** A plausible mistake in the code of deliveries: one text of a file, replaced by another. */
export type PlantedBug = {
  readonly name: string;
  /** From the root of the repository. */
  readonly file: string;
  /** Occurs once in the file. */
  readonly find: string;
  readonly replace: string;
};

const CLAIM = "server/src/dispatch/claim.ts";
const RECORD = "server/src/dispatch/record-attempts.ts";
const SERVICE = "server/src/dispatch/dispatch-service.ts";
const OUTBOX = "server/src/dispatch/outbox.ts";
const FIRST = "workflows/src/dispatcher/first-attempts.ts";
const BEGIN = "workflows/src/dispatcher/workflow-runs.ts";
const CONTACT = "workflows/src/dispatcher/while-core-answers.ts";
const RECORDER = "workflows/src/attempt/recorder.ts";
const SCHEDULE = "workflows/src/attempt/retry-schedule.ts";
const STORY = "workflows/src/workflow/run-story.ts";
const ACTIVITIES = "workflows/src/workflow/activities.ts";
const SLOTS = "workflows/src/workflow/attempt-slots.ts";
/** Statements do not run here. Their mistakes are planted in their twins, which one conformance suite holds alike. */
const STORE = "test/simulation/memory-store.ts";
const CHANGES = "test/simulation/memory-changes.ts";
const TABLES = "test/simulation/memory-tables.ts";
const WORKFLOW = "workflows/src/dispatcher/begin-workflow.ts";

/** What the simulation must find. */
export const PLANTED: readonly PlantedBug[] = [
  {
    name: "a lease is not checked when an entry is leased",
    file: STORE,
    find: "entry.task === task && !tables.isLeased(entry.leasedUntil);",
    replace: "entry.task === task;",
  },
  {
    name: "a claim loads what another claim has leased",
    file: STORE,
    find: `.filter((entry) => entry.leaseId === leaseId)
          .map((entry) => ({
            ...leasedOf(entry),
            content:`,
    replace: `.map((entry) => ({
            ...leasedOf(entry),
            content:`,
  },
  {
    name: "a claim ends the lease of another claim",
    file: STORE,
    find: "if (entry.leaseId === leaseId) entry.leasedUntil = null;",
    replace: "entry.leasedUntil = null;",
  },
  {
    name: "an endpoint that is off is still sent to",
    file: STORE,
    find: "if (isBlocked || !endpoint.switchedOn ||",
    replace: "if (isBlocked ||",
  },
  {
    name: "an ended run deletes the entry of the next run",
    file: CHANGES,
    find: "entry?.run === run ? entry : undefined",
    replace: "run > 0 ? entry : undefined",
  },
  {
    name: "an event of a blocked account is sent",
    file: "server/src/webhook-event/new-webhook-event.ts",
    find: "isPaused: !endpoint.switchedOn || account.blocked,",
    replace: "isPaused: !endpoint.switchedOn,",
  },
  {
    name: "a lease is shorter than an attempt",
    file: "server/src/dispatch/outbox-store.ts",
    find: "LEASE_MICROS = 14_000_000",
    replace: "LEASE_MICROS = 8_000_000",
  },
  {
    name: "the age of a lease is not checked after a claim",
    file: CLAIM,
    find: "if (nowMs() - begunMs <= MAX_LEASE_AGE_MS) return entries;",
    replace: "if (begunMs >= 0) return entries;",
  },
  {
    name: "the age of a lease is not checked after a write",
    file: OUTBOX,
    find: "const isFresh = nowMs() - begunMs <= MAX_LEASE_AGE_MS;",
    replace: "const isFresh = begunMs >= 0;",
  },
  {
    name: "the limit of an endpoint ignores what is leased",
    file: CLAIM,
    find: "const capacity = endpointLimit - (leased.get(queue.endpointId) ?? 0);",
    replace: "const capacity = endpointLimit - (leased.get(queue.endpointId) ?? 0) * 0;",
  },
  {
    name: "an endpoint that hangs is leased to unseen",
    file: OUTBOX,
    find: "leased.length < reservation.limit && !reservation.slow.has(endpointId);",
    replace: "leased.length < reservation.limit;",
  },
  {
    name: "a poller is leased more than it takes",
    file: OUTBOX,
    find: "leased.length < reservation.limit && !reservation.slow.has(endpointId);",
    replace: "!reservation.slow.has(endpointId);",
  },
  {
    name: "the notification of a write is lost",
    file: OUTBOX,
    find: `if (hasUnleased) attempts.notify();
      return {`,
    replace: "return {",
  },
  {
    name: "the notification of a manual retry is lost",
    file: "server/src/delivery/delivery-service.ts",
    find: "outbox.attempts.notify();",
    replace: "",
  },
  {
    name: "a run that cannot be sent stays in the outbox",
    file: CLAIM,
    find: "endUnsendable(leased.filter(({ isRunning, content }) => !isRunning || !content));",
    replace: "endUnsendable(leased.filter(({ isRunning }) => !isRunning));",
  },
  {
    name: "a retry goes on after its endpoint was deleted",
    file: SERVICE,
    find: "await store.change({ canceled: [run], deleted: [run] });",
    replace: "await store.change({ deleted: [run] });",
  },
  {
    name: "a record counts for whatever run it names",
    file: RECORD,
    find: "delivery.run === run && RUNNING_STATES",
    replace: "run > 0 && RUNNING_STATES",
  },
  {
    name: "a record counts after its run has ended",
    file: RECORD,
    find: "delivery.run === run && RUNNING_STATES.includes(delivery.state)",
    replace: "delivery.run === run",
  },
  {
    name: "a late record of an earlier attempt counts",
    file: RECORD,
    find: "isRunning && (delivery.attempts < attempt.attempt || replaces(attempt, delivery));",
    replace: "isRunning;",
  },
  {
    name: "an owner can begin again what is not attempted yet",
    file: "server/src/dispatch/delivery-state.ts",
    find: "[DeliveryState.Retrying] : []",
    replace: "[DeliveryState.Retrying, DeliveryState.Pending] : []",
  },
  {
    name: "the entry of a next run names the run before",
    file: "server/src/delivery/begin-runs.ts",
    find: "endpointId, run: run + 1 };",
    replace: "endpointId, run };",
  },
  {
    name: "orphaned runs are not resumed",
    file: "server/src/dispatch/orphaned-runs.ts",
    find: "await store.resumeOverdue(OVERDUE_MICROS, LIMIT);",
    replace: "await store.resumeOverdue(OVERDUE_MICROS, 0);",
  },
  {
    name: "an attempt in flight is made again when it is claimed again",
    file: FIRST,
    find: "if (ended.has(name) || inFlight.has(name)) return;",
    replace: "if (ended.has(name)) return;",
  },
  {
    name: "an attempt that just ended is made again",
    file: FIRST,
    find: "if (ended.has(name) || inFlight.has(name)) return;",
    replace: "if (inFlight.has(name)) return;",
  },
  {
    name: "an attempt is recorded before its POST",
    file: FIRST,
    find: "const made = make(key, ready);",
    replace: `await recorder.record(key, {
      ...{ startedAtMs: nowMs(), durationMs: 0, outcome: "delivered", status: 200 },
      ...{ detail: undefined, bodyStart: undefined },
    });
    const made = make(key, ready);`,
  },
  {
    name: "a stopped dispatcher leaves attempts in flight",
    file: FIRST,
    find: "await Promise.all(inFlight.values());",
    replace: "",
  },
  {
    name: "attempts are told apart without their run",
    file: "workflows/src/common/run.ts",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source text.
    find: "return `${deliveryId} ${run} ${attempt}`;",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source text.
    replace: "return run > 0 ? `${deliveryId} ${attempt}` : deliveryId;",
  },
  {
    name: "an entry is deleted before Temporal acknowledged its workflow",
    file: BEGIN,
    find: `await beginOrRecord(starter, { ...run, made }, dueInMs(retry, made, starter.nowMs()));
          acknowledged.push(run);`,
    replace: `acknowledged.push(run);
          await beginOrRecord(starter, { ...run, made }, dueInMs(retry, made, starter.nowMs()));`,
  },
  {
    name: "the database's clock alone tells when a retry is due",
    file: BEGIN,
    find: "Math.max(claimedMs, waitLeftMs(made.length, last.endedAtMs, nowMs)) : claimedMs;",
    replace: "claimedMs : claimedMs;",
  },
  {
    name: "the delay of a workflow's start is in seconds",
    file: WORKFLOW,
    find: "startDelay: Math.round(dueInMs)",
    replace: "startDelay: Math.round(dueInMs / 1000)",
  },
  {
    name: "the delay is counted from the start of an attempt",
    file: STORY,
    find: "dueAtMs = nowMs() + delayAfter(answer, made.length);",
    replace: "dueAtMs += delayAfter(answer, made.length);",
  },
  {
    name: "the delay is counted from the record of an attempt",
    file: RECORDER,
    find: "Math.round(delayMs - (nowMs - endedAt))",
    replace: "Math.round(delayMs + 0 * (nowMs - endedAt))",
  },
  {
    name: "a workflow ends when the core is out of reach",
    file: STORY,
    find: "} catch {\n      return undefined;",
    replace: '} catch {\n      return { kind: "ended" };',
  },
  {
    name: "a ninth attempt",
    file: SCHEDULE,
    find: "  12 * HOUR_MS,\n];",
    replace: "  12 * HOUR_MS,\n  HOUR_MS,\n];",
  },
  {
    name: "a route that is not found is retried",
    file: "workflows/src/http/attempt-outcome.ts",
    find: "  AttemptOutcome.NetworkError,\n]);",
    replace: "  AttemptOutcome.NetworkError,\n  AttemptOutcome.RouteNotFound,\n]);",
  },
  {
    name: "an attempt has no end when its receiver hangs",
    file: "workflows/src/http/sender.ts",
    find: "timing.after(timeoutMs, () => deadline.abort());",
    replace: "timing.after(1_000 * timeoutMs, () => deadline.abort());",
  },
  {
    name: "one public address is enough for a target",
    file: "workflows/src/http/target-guard.ts",
    find: "if (!found.every(isPublicAddress)) {",
    replace: "if (!found.some(isPublicAddress)) {",
  },
  {
    name: "a worker that is cut off from the core goes on",
    file: CONTACT,
    find: "missed < MISSED; ",
    replace: "missed < Infinity; ",
  },
  {
    name: "a worker does not keep the attempts that it makes",
    file: ACTIVITIES,
    find: "if (same !== undefined) return orLater(same);",
    replace: "",
  },
  {
    name: "a slot is not given back",
    file: ACTIVITIES,
    find: "nowMs).finally(slot.giveBack);",
    replace: "nowMs).finally(() => undefined);",
  },
  {
    name: "the slots of an endpoint have no limit",
    file: SLOTS,
    find: "if (endpoint.inFlight >= share) return turnOf(endpoint, share);",
    replace: "",
  },
  {
    name: "a record that the core could not make is forgotten",
    file: RECORDER,
    find: "if (busy.has(place)) waiting.set(attemptName(one.key), one);\n      else one",
    replace: "one",
  },
  {
    name: "a restored database sends before Temporal is asked",
    file: TABLES,
    find: "const asking = { task: Task.BeginRetries,",
    replace: "const asking = { task: Task.Attempt,",
  },
  {
    name: "a restored run begins behind the attempts of its backup",
    file: WORKFLOW,
    find: "const isAhead = result.attempts.length > made.length;",
    replace: "const isAhead = result.attempts.length < 0;",
  },
  {
    name: "a restored run goes on behind the end that Temporal knows",
    file: WORKFLOW,
    find: 'if (isAhead && (result.end === "delivered" || result.end === "failed")) return result;',
    replace: "",
  },
];
