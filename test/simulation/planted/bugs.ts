// biome-ignore-all lint/suspicious/noTemplateCurlyInString: The texts are source text.

/** A plausible mistake: another text in one place of a file. */
export type PlantedBug = {
  readonly name: string;
  /** Its path in the repository. */
  readonly file: string;
  /** The text to replace. The file contains it once. */
  readonly find: string;
  readonly replace: string;
} & More;

type More = {
  /** The first seed to try, because no seed before it catches the bug. `npm test` runs it too. 1 by default. */
  readonly from?: number;
  /** A second place that the mistake needs. */
  readonly also?: Pick<PlantedBug, "file" | "find" | "replace">;
  /** Only this version has the bug, which shows only beside the version before. */
  readonly besideOther?: boolean;
};

/**
 * Bugs by their file, then by name. Each has the text to replace and its replacement, which is empty by default. The
 * simulation runs no SQL. Mistakes in statements are planted in the tables in memory, which behave alike.
 */
type Bugs = {
  readonly [file: string]: {
    readonly [name: string]: readonly [find: string, replace?: string, more?: More];
  };
};

const BUGS: Bugs = {
  "test/simulation/memory-store.ts": {
    "an entry is leased although it is leased already": [" && !isLeased(entry)"],
    "a claim ends the lease of another claim": [
      "if (entry.leaseId === leaseId) ",
      "",
      { from: 1260 },
    ],
    "attempts go to an endpoint that is switched off": [" || !endpoint.switchedOn"],
    "a record does not lock its deliveries": [
      "locks\n            .takeFree(ids, transaction)",
      "ids",
    ],
  },
  "test/simulation/memory-changes.ts": {
    "an ended run deletes the entry of the next run": [
      "entry?.run === run ? entry : undefined",
      "run > 0 ? entry : undefined",
      { from: 1386 },
    ],
  },
  "server/src/webhook-event/new-webhook-event.ts": {
    "events of a blocked account are sent": [" || account.blocked"],
  },
  "server/src/dispatch/outbox-store.ts": {
    "a lease is shorter than an attempt": ["LEASE_MICROS = 14_000_000", "LEASE_MICROS = 8_000_000"],
  },
  "server/src/dispatch/claim.ts": {
    "a claim returns leases of any age": [
      "if (nowMs() - begunMs <= MAX_LEASE_AGE_MS) return entries;",
      "if (begunMs >= 0) return entries;",
    ],
    "the limit of an endpoint ignores leased entries": [" - (leased.get(queue.endpointId) ?? 0)"],
    "a run that cannot be sent stays in the outbox": [" || !content"],
  },
  "server/src/dispatch/ended-leases.ts": {
    "another dispatcher gets ended leases as soon as an outage ends": [
      "!isFirst || (!isBack && begunMs - backMs >= RECORDS_FIRST_MS);",
      "!isFirst || !isBack || begunMs > 0;",
    ],
    "an outage soon after another leaves no time for records": [
      "if (nowMs() - writtenMs >= RECORDS_FIRST_MS) {",
      "if (writtenMs > nowMs()) {",
    ],
  },
  "server/src/dispatch/poller-queue.ts": {
    "pollers that hear nothing look only every nine seconds": [
      "const SWEEP_MS = 5_000;",
      "const SWEEP_MS = 9_000;",
    ],
  },
  "server/src/dispatch/outbox.ts": {
    "a write leases entries of an endpoint that is slow": [
      "leased.length < reservation.limit && !reservation.slow.has(endpointId);",
      "leased.length < reservation.limit;",
      { from: 821 },
    ],
    "the notification of a write is lost": [
      "if (hasUnleased) attempts.notify();\n      return {",
      "return {",
    ],
  },
  "server/src/write/locked-account-store.ts": {
    "a write does not lock its account": [
      'FOR UPDATE ${waits ? "" : "SKIP LOCKED"}',
      "",
      { from: 207 },
    ],
  },
  "server/src/delivery/delivery-service.ts": {
    "the notification of a manual retry is lost": [
      "outbox.attempts.notify();\n      return {",
      "return {",
    ],
  },
  "server/src/delivery/retry-failed.ts": {
    "a bulk retry whose part failed counts as complete": [
      "if (error instanceof DomainError && retried > 0) return END;",
      "return END;",
    ],
    "a bulk retry cannot begin runs of several deliveries": [
      "answer: begun.length,",
      "answer: 1 / begun.length,",
    ],
  },
  "server/src/delivery/page-token.ts": {
    "a bulk retry refuses the token of its next part": ["(fingerprint !== ", "(fingerprint === "],
  },
  "server/src/dispatch/dispatch-service.ts": {
    "a recorded attempt is made again": [
      "if (loaded?.recorded !== undefined) {",
      "if (loaded?.recorded !== undefined && attempt < 0) {",
    ],
    "a run continues after its endpoint was deleted": ["canceled: [run], "],
    "a run is canceled at its third attempt": [
      "if (loaded.content !== undefined) {",
      "if (loaded.content !== undefined && attempt < 3) {",
    ],
  },
  "server/src/dispatch/record-attempts.ts": {
    "a record counts for any run": ["delivery.run === run && RUNNING", "run > 0 && RUNNING"],
    "a record counts after its run has ended": [" && RUNNING_STATES.includes(delivery.state)"],
    "a late record of an earlier attempt counts": [
      "? replaces(attempt, delivery)\n      : isRunning && delivery.attempts < attempt.attempt;",
      "|| isRunning;",
    ],
  },
  "server/src/dispatch/orphaned-runs.ts": {
    "orphaned runs are not resumed": ["OVERDUE_MICROS, LIMIT", "OVERDUE_MICROS, 0"],
  },
  "workflows/src/dispatcher/first-attempts.ts": {
    "an attempt in flight is made again when it is claimed again": [" || inFlight.has(name)"],
    "an attempt that just ended is made again": ["ended.has(name) || ", "", { from: 2473 }],
    "an attempt is recorded before its POST": [
      "const made = make(key, ready);",
      `await recorder.record(key, {
      ...{ startedAtMs: nowMs(), durationMs: 0, outcome: "delivered", status: 200 },
      ...{ detail: undefined, bodyStart: undefined },
    });
    const made = make(key, ready);`,
    ],
    "a stopped dispatcher leaves attempts in flight": ["await Promise.all(inFlight.values());"],
  },
  "workflows/src/common/run.ts": {
    "attempts are identified without their run": [
      "return `${deliveryId} ${run} ${attempt}`;",
      "return run > 0 ? `${deliveryId} ${attempt}` : deliveryId;",
    ],
  },
  "workflows/src/dispatcher/workflow-runs.ts": {
    "workflows begin as many runs of an endpoint as dispatchers": [
      "const ENDPOINT_LIMIT = 8;",
      "const ENDPOINT_LIMIT = 64;",
    ],
    "an entry is deleted before Temporal acknowledged its workflow": [
      "if (await beginOrRecord(starter, { ...run, made }, dueMs)) acknowledged.push(run);",
      "acknowledged.push(run);\n          await beginOrRecord(starter, { ...run, made }, dueMs);",
    ],
    "only the database's clock decides when a retry is due": [
      "retryInMs(made.length, last.endedAtMs, nowMs, claimedMs) : claimedMs;",
      "claimedMs : claimedMs;",
    ],
  },
  "workflows/src/workflow/run-story.ts": {
    "the delay of a retry begins at the start of the attempt": [
      "dueAtMs = nowMs() + answer.retryInMs;",
      "dueAtMs += answer.retryInMs;",
    ],
    "a workflow ends although another worker's outcome of its attempt is retried": [
      "const { outcome } = recorded ?? answer;",
      "const { outcome } = answer;",
    ],
    "a workflow ends when the core is away": [
      "} catch {\n      return undefined;",
      '} catch {\n      return { kind: "ended" };',
    ],
    "first attempts of a restored database take no slots": [
      "before === undefined && made.length === 0;",
      "made.length === 0;",
      { from: 1394 },
    ],
    "a workflow has a new step without a patch": [
      "made.push(pastFrom(answer));",
      "made.push(pastFrom(answer));\n      await sleep(1);",
      { besideOther: true },
    ],
    "a workflow reads its input in a new form only": [
      "{ made: before, ...run }: DeliverInput",
      "{ before, ...run }: DeliverInput",
      {
        also: {
          file: "workflows/src/dispatcher/begin-workflow.ts",
          find: "args: [input],",
          replace: "args: [{ ...input, made: undefined, before: input.made }],",
        },
        besideOther: true,
      },
    ],
  },
  "workflows/src/attempt/recorder.ts": {
    "the delay of a retry begins at the record of the attempt": [
      "Math.round(delayMs - (nowMs - endedAt))",
      "Math.round(delayMs + 0 * (nowMs - endedAt))",
    ],
    "a run gives up at its third attempt": [
      "isRetried(outcome) ? delayAfterMs(key.attempt) : undefined;",
      "isRetried(outcome) && key.attempt < 3 ? delayAfterMs(key.attempt) : undefined;",
    ],
    "a record that the core refused is forgotten": ["busy.has(place)", "batch.length === 0"],
  },
  "workflows/src/attempt/retry-schedule.ts": {
    "a dispatcher's clock that is behind lengthens a wait": [
      "Math.min(delayMs, Math.ceil(endedAtMs + delayMs - nowMs))",
      "Math.ceil(endedAtMs + delayMs - nowMs)",
    ],
    "only the dispatchers' clocks decide when a retry is due": [
      "Math.max(Math.min(storedMs, longestMs), waitLeftMs(attempt, endedAtMs, nowMs))",
      "Math.min(storedMs + longestMs, waitLeftMs(attempt, endedAtMs, nowMs))",
    ],
    "a run has a ninth attempt": ["  12 * HOUR_MS,\n];", "  12 * HOUR_MS,\n  HOUR_MS,\n];"],
  },
  "workflows/src/http/attempt-outcome.ts": {
    "an attempt whose route was not found is retried": [
      "  AttemptOutcome.NetworkError,\n]);",
      "  AttemptOutcome.NetworkError,\n  AttemptOutcome.RouteNotFound,\n]);",
    ],
  },
  "workflows/src/http/sender.ts": {
    "an attempt at a receiver that hangs does not end": [
      "timing.after(timeoutMs, () => deadline.abort());",
      "timing.after(1_000 * timeoutMs, () => deadline.abort());",
    ],
  },
  "workflows/src/http/target-guard.ts": {
    "a target needs only one public address": ["found.every(", "found.some("],
  },
  "workflows/src/dispatcher/while-core-answers.ts": {
    "a worker that is cut off from the core continues": ["missed < MISSED", "missed < Infinity"],
  },
  "workflows/src/workflow/activities.ts": {
    "a worker forgets the attempts that it makes": [
      "if (same !== undefined) return orLater(same);",
    ],
    "a slot is not released": [".finally(slot.giveBack)"],
  },
  "workflows/src/workflow/attempt-slots.ts": {
    "the slots of an endpoint have no limit": [
      "if (endpoint.inFlight >= share) return turnOf(endpoint, share);",
    ],
  },
  "test/simulation/memory-tables.ts": {
    "a restored database sends before Temporal is asked": ["Task.BeginRetries", "Task.Attempt"],
  },
  "workflows/src/dispatcher/begin-workflow.ts": {
    "a restored run continues after the attempts of its backup": [
      "const isAhead = result.attempts.length > made.length;",
      "const isAhead = result.attempts.length < 0;",
      { from: 309 },
    ],
    "a restored run continues although Temporal knows its end": [
      'if (isDelivered || (isAhead && result.end === "failed")) return result;',
    ],
  },
  "workflows/src/workflow/contract.ts": {
    "the id of a workflow has a new form": [
      "`delivery-${deliveryId}-${run}`",
      "`deliver-${deliveryId}-${run}`",
      { besideOther: true },
    ],
  },
};

/** The bugs that the simulation must find. */
export const PLANTED: readonly PlantedBug[] = Object.entries(BUGS).flatMap(([file, bugs]) =>
  Object.entries(bugs).map(([name, [find, replace = "", more]]) => {
    return { name, file, find, replace, ...more };
  }),
);
