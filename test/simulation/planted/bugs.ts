/** A plausible mistake: another text in one place of a file. */
export type PlantedBug = {
  readonly name: string;
  /** The first seed to try, because no seed before it catches the bug. `npm test` runs it too. 1 by default. */
  readonly from?: number;
  /** Its path in the repository. */
  readonly file: string;
  /** The text to replace. The file contains it once. */
  readonly find: string;
  /** Empty by default. */
  readonly replace?: string;
  /** A second place that the mistake needs. */
  readonly also?: Omit<PlantedBug, "name">;
  /** Only this version has it: it shows beside the version before. */
  readonly besideOther?: boolean;
};

const CLAIM = "server/src/dispatch/claim.ts";
const RECORD = "server/src/dispatch/record-attempts.ts";
const ENDED = "server/src/dispatch/ended-leases.ts";
const SERVICE = "server/src/dispatch/dispatch-service.ts";
const OUTBOX = "server/src/dispatch/outbox.ts";
const FIRST = "workflows/src/dispatcher/first-attempts.ts";
const BEGIN = "workflows/src/dispatcher/workflow-runs.ts";
const RECORDER = "workflows/src/attempt/recorder.ts";
const STORY = "workflows/src/workflow/run-story.ts";
const ACTIVITIES = "workflows/src/workflow/activities.ts";
/** The simulation runs no SQL. Mistakes in statements are planted in the tables in memory, which behave alike. */
const STORE = "test/simulation/memory-store.ts";
const CHANGES = "test/simulation/memory-changes.ts";
const TABLES = "test/simulation/memory-tables.ts";
const WORKFLOW = "workflows/src/dispatcher/begin-workflow.ts";

/** The bugs that the simulation must find. */
export const PLANTED: readonly PlantedBug[] = [
  {
    name: "an entry is leased although it is leased already",
    file: STORE,
    find: "if (entry.task === task && !isLeased(entry)) tables.lease(",
    replace: "if (entry.task === task) tables.lease(",
  },
  {
    name: "a claim ends the lease of another claim",
    from: 390,
    file: STORE,
    find: "if (entry.leaseId === leaseId) entry.leasedUntil = null;",
    replace: "entry.leasedUntil = null;",
  },
  {
    name: "attempts go to an endpoint that is switched off",
    file: STORE,
    find: "if (isBlocked || !endpoint.switchedOn ||",
    replace: "if (isBlocked ||",
  },
  {
    name: "an ended run deletes the entry of the next run",
    from: 1386,
    file: CHANGES,
    find: "entry?.run === run ? entry : undefined",
    replace: "run > 0 ? entry : undefined",
  },
  {
    name: "events of a blocked account are sent",
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
    name: "a claim returns leases of any age",
    file: CLAIM,
    find: "if (nowMs() - begunMs <= MAX_LEASE_AGE_MS) return entries;",
    replace: "if (begunMs >= 0) return entries;",
  },
  {
    name: "another dispatcher gets ended leases as soon as an outage ends",
    file: ENDED,
    find: "!isFirst || (!isBack && begunMs - backMs >= RECORDS_FIRST_MS);",
    replace: "!isFirst || !isBack || begunMs > 0;",
  },
  {
    name: "an outage soon after another leaves no time for records",
    file: ENDED,
    find: "if (nowMs() - writtenMs >= RECORDS_FIRST_MS) {",
    replace: "if (writtenMs > nowMs()) {",
  },
  {
    name: "the limit of an endpoint ignores leased entries",
    file: CLAIM,
    find: "const capacity = endpointLimit - (leased.get(queue.endpointId) ?? 0);",
    replace: "const capacity = endpointLimit - (leased.get(queue.endpointId) ?? 0) * 0;",
  },
  {
    name: "a write leases entries of an endpoint that is slow",
    from: 256,
    file: OUTBOX,
    find: "leased.length < reservation.limit && !reservation.slow.has(endpointId);",
    replace: "leased.length < reservation.limit;",
  },
  {
    name: "a write does not lock its account",
    from: 1947,
    file: "server/src/write/locked-account-store.ts",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source text.
    find: 'FOR UPDATE ${waits ? "" : "SKIP LOCKED"}',
  },
  {
    name: "a record does not lock its deliveries",
    file: STORE,
    find: `locks
            .takeFree(ids, transaction)`,
    replace: "ids",
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
  },
  {
    name: "a run that cannot be sent stays in the outbox",
    file: CLAIM,
    find: "endUnsendable(leased.filter(({ isRunning, content }) => !isRunning || !content));",
    replace: "endUnsendable(leased.filter(({ isRunning }) => !isRunning));",
  },
  {
    name: "a recorded attempt is made again",
    file: SERVICE,
    find: "if (loaded?.recorded !== undefined) {",
    replace: "if (loaded?.recorded !== undefined && attempt < 0) {",
  },
  {
    name: "a run continues after its endpoint was deleted",
    file: SERVICE,
    find: "await store.change({ canceled: [run], deleted: [run] });",
    replace: "await store.change({ deleted: [run] });",
  },
  {
    name: "a run is canceled at its third attempt",
    file: SERVICE,
    find: "if (loaded.content !== undefined) {",
    replace: "if (loaded.content !== undefined && attempt < 3) {",
  },
  {
    name: "a record counts for any run",
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
    find: "? replaces(attempt, delivery)\n      : isRunning && delivery.attempts < attempt.attempt;",
    replace: "|| isRunning;",
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
    from: 2460,
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
  },
  {
    name: "attempts are identified without their run",
    file: "workflows/src/common/run.ts",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source text.
    find: "return `${deliveryId} ${run} ${attempt}`;",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source text.
    replace: "return run > 0 ? `${deliveryId} ${attempt}` : deliveryId;",
  },
  {
    name: "an entry is deleted before Temporal acknowledged its workflow",
    file: BEGIN,
    find: "if (await beginOrRecord(starter, { ...run, made }, dueMs)) acknowledged.push(run);",
    replace: `acknowledged.push(run);
          await beginOrRecord(starter, { ...run, made }, dueMs);`,
  },
  {
    name: "only the database's clock decides when a retry is due",
    file: BEGIN,
    find: "retryInMs(made.length, last.endedAtMs, nowMs, claimedMs) : claimedMs;",
    replace: "claimedMs : claimedMs;",
  },
  {
    name: "the delay of a retry begins at the start of the attempt",
    file: STORY,
    find: "dueAtMs = nowMs() + delayAfter(answer, made.length);",
    replace: "dueAtMs += delayAfter(answer, made.length);",
  },
  {
    name: "a workflow ends although another worker's outcome of its attempt is retried",
    from: 3330,
    file: STORY,
    find: "const { outcome } = recorded ?? answer;",
    replace: "const { outcome } = answer;",
  },
  {
    name: "the delay of a retry begins at the record of the attempt",
    file: RECORDER,
    find: "Math.round(delayMs - (nowMs - endedAt))",
    replace: "Math.round(delayMs + 0 * (nowMs - endedAt))",
  },
  {
    name: "a workflow ends when the core is away",
    file: STORY,
    find: "} catch {\n      return undefined;",
    replace: '} catch {\n      return { kind: "ended" };',
  },
  {
    name: "a run has a ninth attempt",
    file: "workflows/src/attempt/retry-schedule.ts",
    find: "  12 * HOUR_MS,\n];",
    replace: "  12 * HOUR_MS,\n  HOUR_MS,\n];",
  },
  {
    name: "a run gives up at its third attempt",
    file: RECORDER,
    find: "isRetried(outcome) ? delayAfterMs(key.attempt) : undefined;",
    replace: "isRetried(outcome) && key.attempt < 3 ? delayAfterMs(key.attempt) : undefined;",
  },
  {
    name: "an attempt whose route was not found is retried",
    file: "workflows/src/http/attempt-outcome.ts",
    find: "  AttemptOutcome.NetworkError,\n]);",
    replace: "  AttemptOutcome.NetworkError,\n  AttemptOutcome.RouteNotFound,\n]);",
  },
  {
    name: "an attempt at a receiver that hangs does not end",
    file: "workflows/src/http/sender.ts",
    find: "timing.after(timeoutMs, () => deadline.abort());",
    replace: "timing.after(1_000 * timeoutMs, () => deadline.abort());",
  },
  {
    name: "a target needs only one public address",
    file: "workflows/src/http/target-guard.ts",
    find: "if (!found.every(isPublicAddress)) {",
    replace: "if (!found.some(isPublicAddress)) {",
  },
  {
    name: "a worker that is cut off from the core continues",
    file: "workflows/src/dispatcher/while-core-answers.ts",
    find: "missed < MISSED; ",
    replace: "missed < Infinity; ",
  },
  {
    name: "a worker forgets the attempts that it makes",
    file: ACTIVITIES,
    find: "if (same !== undefined) return orLater(same);",
  },
  {
    name: "a slot is not released",
    file: ACTIVITIES,
    find: ".finally(slot.giveBack)",
  },
  {
    name: "the slots of an endpoint have no limit",
    file: "workflows/src/workflow/attempt-slots.ts",
    find: "if (endpoint.inFlight >= share) return turnOf(endpoint, share);",
  },
  {
    name: "a record that the core refused is forgotten",
    file: RECORDER,
    find: "if (busy.has(place)) {",
    replace: "if (batch.length === 0) {",
  },
  {
    name: "a restored database sends before Temporal is asked",
    file: TABLES,
    find: "this.putEntry(row, Task.BeginRetries);",
    replace: "this.putEntry(row, Task.Attempt);",
  },
  {
    name: "a restored run continues after the attempts of its backup",
    from: 309,
    file: WORKFLOW,
    find: "const isAhead = result.attempts.length > made.length;",
    replace: "const isAhead = result.attempts.length < 0;",
  },
  {
    name: "a restored run continues although Temporal knows its end",
    file: WORKFLOW,
    find: 'if (isDelivered || (isAhead && result.end === "failed")) return result;',
  },
  {
    name: "a workflow has a new step without a patch",
    file: STORY,
    find: "made.push(pastFrom(answer));",
    replace: "made.push(pastFrom(answer));\n      await sleep(1);",
    besideOther: true,
  },
  {
    name: "a workflow reads its input in a new form only",
    file: STORY,
    find: "{ made: before = [], ...run }: DeliverInput",
    replace: "{ before = [], ...run }: DeliverInput",
    also: {
      file: WORKFLOW,
      find: "args: [input],",
      replace: "args: [{ ...input, made: undefined, before: input.made }],",
    },
    besideOther: true,
  },
  {
    name: "the id of a workflow has a new form",
    file: "workflows/src/workflow/contract.ts",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source text.
    find: "`delivery-${deliveryId}-${run}`",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source text.
    replace: "`deliver-${deliveryId}-${run}`",
    besideOther: true,
  },
];
