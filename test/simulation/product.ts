import type { Message } from "@bufbuild/protobuf";
import { DeliveryState } from "../../server/src/dispatch/delivery-state.ts";
import { LEASE_MICROS } from "../../server/src/dispatch/outbox-store.ts";
import { encryptSecret } from "../../server/src/signing-secret/secret-cipher.ts";
import { deliverWorkflowId } from "../../workflows/src/workflow/contract.ts";
import { type BegunAttempt, createAttempts } from "./attempts.ts";
import { type Core, createCore, SECRET_KEYS } from "./core.ts";
import { createDatabase } from "./database.ts";
import { createDispatcher, type Dispatcher } from "./dispatcher.ts";
import { createFaults } from "./faults.ts";
import { createLoads } from "./loads.ts";
import { createNetwork, urlOf } from "./network.ts";
import type { Account } from "./owner.ts";
import { createStreams } from "./random.ts";
import { createSafety, Violation } from "./safety.ts";
import type { Frozen, Scenario } from "./scenario.ts";
import { createTemporal } from "./temporal.ts";
import type { Cut } from "./wire.ts";
import { createWorld, type Process } from "./world.ts";

const nameOf = (dispatcher: number) => `dispatcher ${dispatcher + 1}`;

/** The whole product, simulated, and what is known of it from outside. */
export type Product = ReturnType<typeof createProduct>;

/** Starts the processes of a scenario. */
export function createProduct(scenario: Scenario) {
  const { seed, faultShare, skipped } = scenario;
  const streams = createStreams(seed);
  const world = createWorld();
  const faults = createFaults(streams, faultShare, new Set(skipped));
  const loads = createLoads();
  const secrets = new WeakMap<Buffer, string>();
  /** Since when nothing may be sent any more: of an endpoint, an account, a delivery. */
  const forbidden = new Map<string, number>();
  /** Writes that allow it again, and until when each may take effect. */
  const allowing = new Map<string, { untilMs: number }[]>();
  /** The last backup of the database. */
  let backup: { readonly restore: () => void; readonly forbidden: typeof forbidden } | undefined;
  /** By run, the attempts that Temporal knew when the database was restored. */
  const knownAtRestore = new Map<string, number>();
  let violation: Violation | undefined;

  function broken(found: Violation): void {
    violation ??= found;
  }
  const noteLoad = (
    payload: Buffer,
    endpoint: { id: string; secret: Buffer },
    until: number | null,
  ) =>
    loads.note(payload, endpoint.id, {
      ...{ loadedAtMs: world.nowMs(), loadedAtMicros: database.tables.nowMicros() },
      ...{ leasedAtMicros: until === null ? undefined : until - LEASE_MICROS },
      secret: secrets.get(endpoint.secret) ?? "",
    });
  const safety = createSafety({
    nowMs: world.nowMs,
    databaseMicros: () => database.tables.nowMicros(),
    steppedAtMs: () => database.steppedAtMs(),
    tables: () => database.tables,
    knownAtRestore: (run) => knownAtRestore.get(deliverWorkflowId(run)) ?? 0,
    hadWorkflow: (run) => temporal.hadWorkflow(run),
    attempts: () => attempts,
    forbiddenSince: ({ endpointId, accountNo, deliveryId }) => {
      const names = [endpointId, `${endpointId} removed`, `account ${accountNo}`, deliveryId];
      const times = names.flatMap((name) => forbidden.get(name) ?? []);
      return times.length > 0 ? Math.min(...times) : undefined;
    },
    movesOf: (run) => temporal.movesOf(run),
    broken,
  });
  const database = createDatabase(world, faults, { ...safety, onLoad: noteLoad });
  const attempts = createAttempts(world.nowMs, loads.of, safety.onPost);
  const temporal = createTemporal(world, faults, streams("temporal"), safety.onWorkflowEnd);
  const network = createNetwork(world, streams("network"), (url) => {
    broken(new Violation("nothing is sent inside", url));
  });

  let core: Core | undefined;
  const cuts: Cut[] = [];
  const dispatchers: (Dispatcher | undefined)[] = [];
  const endpoints: { readonly id: string; readonly account: Account }[] = [];
  const accounts: Account[] = scenario.accounts.map((count, index) => {
    const account = { accountNo: index + 1, accountId: `account0000000${index}` };
    database.tables.accounts.set(account.accountNo, {
      ...{ accountNo: account.accountNo, id: account.accountId, blockedAt: null, feedChangedAt: 0 },
    });
    for (let number = 0; number < count; number++) {
      const id = `endpoint000${index}00${number}`;
      const secret = makeSecret(id, 0);
      database.tables.endpoints.set(id, {
        ...{ accountNo: account.accountNo, id, url: urlOf(id), secret },
        ...{ standardWebhooks: false, switchedOn: true, deletedAt: null },
      });
      endpoints.push({ id, account });
    }
    return account;
  });

  function makeSecret(endpointId: string, version: number): Buffer {
    const secret = `whsec_${Buffer.from(`${endpointId} ${version}`).toString("base64")}`;
    const encrypted = encryptSecret(SECRET_KEYS, endpointId, secret);
    secrets.set(encrypted, secret);
    return encrypted;
  }

  function startCore(): void {
    if (core?.process.isAlive()) return;
    core = createCore(world, database, streams("core"));
  }

  function startDispatcher(number: number): void {
    if (dispatchers[number]?.process.isAlive()) return;
    const cut = cuts[number] ?? { isCutThere: false, isCutBack: false, lagMs: 0 };
    cuts[number] = cut;
    const alive = () => (core?.process.isAlive() ? core : undefined);
    const wire = { world, faults, cut, core: alive, onAnswer };
    const parts = {
      temporal,
      network,
      attempts,
      onStopped: safety.onStopped,
      onRecorded: safety.onRecorded,
    };
    dispatchers[number] = createDispatcher(wire, nameOf(number), parts);
  }

  function onAnswer(method: string, request: Message, answer: Message): void {
    for (const load of loads.tell(method, request, answer)) {
      if (method === "claimAttempts") safety.onClaimed(load);
    }
  }

  /** Whether a process is never heard by the core again. */
  function isMute({ name }: Process): boolean {
    const { frozen } = scenario;
    return frozen?.kind === "cut there" && name === nameOf(frozen.dispatcher);
  }

  /** Attempts that ended, and whose makers live and have not had them recorded. */
  function unrecorded(): BegunAttempt[] {
    return attempts.all().filter(({ deliveryId, run, attempt, endedMs, process }) => {
      const isStored = database.tables.attempts.has(`${deliveryId} ${run} ${attempt}`);
      return endedMs !== undefined && process.isAlive() && !isMute(process) && !isStored;
    });
  }

  function startAll(): void {
    startCore();
    for (let number = 0; number < scenario.dispatchers; number++) startDispatcher(number);
  }
  startAll();

  return {
    ...{ world, faults, database, attempts, temporal, network, forbidden, allowing },
    ...{ accounts, endpoints, dispatchers, cuts, makeSecret, noteLoad, unrecorded },
    ...{ startCore, startDispatcher },
    core: () => (core?.process.isAlive() ? core : undefined),
    violation: () => violation,
    broken,
    /** Whether nothing is at work, but for endpoints that are left out. */
    isIdle: (isLeftOut: (endpointId: string) => boolean = () => false) =>
      [...attempts.inFlight()].every(({ endpointId }) => isLeftOut(endpointId)) &&
      !temporal.isBusy((id) => isLeftOut(database.tables.deliveries.get(id)?.endpointId ?? "")) &&
      unrecorded().every(({ endpointId }) => isLeftOut(endpointId)),
    /** Whether an endpoint hangs for ever. */
    isFrozen: (endpointId: string) => network.isFrozen(endpointId),
    /** Whether a dispatcher never hears the core again, or is never heard. */
    isCut: scenario.frozen !== undefined && scenario.frozen.kind !== "hangs",
    /** Begins a fault that never heals. */
    freeze(frozen: Frozen): void {
      if (frozen.kind === "hangs") {
        network.freeze(endpoints[frozen.endpoint]?.id ?? "");
        return;
      }
      const field = frozen.kind === "cut there" ? "isCutThere" : "isCutBack";
      const cut = cuts[frozen.dispatcher];
      if (cut) Object.defineProperty(cut, field, { get: () => true, set: () => undefined });
    },
    forgetWorkflow(id: string): void {
      temporal.forget(id);
      knownAtRestore.delete(id);
    },
    backUp(): void {
      backup = { restore: database.tables.backUp(), forbidden: new Map(forbidden) };
    },
    /** Stops all but Temporal, restores the last backup, and starts again. Owners repeat no removal: it is forgotten. */
    restore(): void {
      if (backup === undefined) return;
      core?.process.kill();
      for (const dispatcher of dispatchers) dispatcher?.process.kill();
      database.restore(backup.restore);
      forbidden.clear();
      for (const [name, sinceMs] of backup.forbidden) forbidden.set(name, sinceMs);
      backup = undefined;
      for (const { accountNo, id, run, state } of database.tables.deliveries.values()) {
        if (state !== DeliveryState.Retrying) continue;
        const goingOn = { accountNo, deliveryId: id, run };
        knownAtRestore.set(deliverWorkflowId(goingOn), temporal.attemptsOf(goingOn));
      }
      startAll();
    },
    heal(): void {
      faults.heal();
      network.heal();
      database.setAway(false);
      database.setReadOnly(false);
      database.tables.refused.clear();
      temporal.setAway(false);
      for (const cut of cuts) Object.assign(cut, { isCutThere: false, isCutBack: false, lagMs: 0 });
      startAll();
    },
  };
}
