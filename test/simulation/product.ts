import type { Message } from "@bufbuild/protobuf";
import { leastIdAt } from "../../server/src/common/ids.ts";
import { DeliveryState } from "../../server/src/dispatch/delivery-state.ts";
import { LEASE_MICROS } from "../../server/src/dispatch/outbox-store.ts";
import { encryptSecret } from "../../server/src/signing-secret/secret-cipher.ts";
import { deliverWorkflowId } from "../../workflows/src/workflow/contract.ts";
import { type BegunAttempt, createAttempts, keyOf } from "./attempts.ts";
import { type Core, createCore, SECRET_KEYS } from "./core.ts";
import { createDatabase } from "./database.ts";
import type { Dispatcher } from "./dispatcher.ts";
import { createFaults } from "./faults.ts";
import { createNetwork, urlOf } from "./network.ts";
import { type Account, createOwner, type Owner } from "./owner.ts";
import { createStreams } from "./random.ts";
import { createSafety } from "./safety.ts";
import type { Frozen, Scenario } from "./scenario.ts";
import { createTemporal } from "./temporal.ts";
import { THIS_VERSION } from "./version.ts";
import { type Cut, notCut } from "./wire.ts";
import { createWorld } from "./world.ts";

/** How far a dispatcher's clock may be wrong. Receivers accept five minutes; an attempt may wait for one of them. */
const MAX_AHEAD_MS = 4 * 60_000;

/** The share of scenarios with `DELIVERY_WORKFLOWS=all`. */
const WHOLE_SHARE = 0.2;

const nameOf = (dispatcher: number) => `dispatcher ${dispatcher + 1}`;

export type Product = ReturnType<typeof createProduct>;

/** Starts the simulated product of a scenario, and notes what an observer knows of it. */
export function createProduct(scenario: Scenario) {
  const streams = createStreams(scenario.seed);
  const world = createWorld();
  const faults = createFaults(world.nowMs, streams, scenario.faultShare, scenario.skipped);
  const secrets = new WeakMap<Buffer, string>();
  /** When an answer of the core forbade to send for an endpoint, an account or a delivery. */
  const forbidden = new Map<string, number>();
  /** The writes that allow sending again, and until when each may take effect. */
  const allowing = new Map<string, { untilMs: number }[]>();
  /** For each bulk retry that has not ended, the deliveries that it must retry. */
  const bulkRetries = new Set<object>();
  /** The last backup of the database. */
  let backup: { readonly restore: () => void; readonly forbidden: typeof forbidden } | undefined;
  /** How many attempts of each workflow Temporal knew when the database was restored. */
  const knownAtRestore = new Map<string, number>();
  /** Whether a workflow makes all attempts of each run. */
  const isWhole = streams("workflows").chance(WHOLE_SHARE);
  let violation: { readonly rule: string; readonly what: string } | undefined;

  function broken(rule: string, what: string): void {
    violation ??= { rule, what };
  }
  const noteLoad = (
    payload: Buffer,
    endpoint: { id: string; secret: Buffer },
    until: number | null,
  ) =>
    attempts.noteSource(payload, endpoint.id, {
      ...{ loadedAtMs: world.nowMs(), loadedAtMicros: database.tables.nowMicros() },
      ...{ leasedAtMicros: until === null ? undefined : until - LEASE_MICROS },
      secret: secrets.get(endpoint.secret) ?? "",
    });
  const safety = createSafety({
    nowMs: world.nowMs,
    database: () => database,
    temporal: () => temporal,
    attempts: () => attempts,
    hinderedSince: (ms) =>
      faults.hinderedSince(ms) ||
      database.tables.refused.size > 0 ||
      cuts.some((cut) => cut["cut there"] || cut["cut back"] || cut.lagMs > 0),
    clocksDifferMs: () => Math.max(...aheads) - Math.min(...aheads),
    isRestored: () => isRestored,
    isWhole,
    isAlone: scenario.versions.every((version) => version === THIS_VERSION),
    knownAtRestore: (run) => knownAtRestore.get(deliverWorkflowId(run)) ?? 0,
    forbiddenSince({ endpointId, accountNo, deliveryId }) {
      const names = [endpointId, `${endpointId} removed`, `account ${accountNo}`, deliveryId];
      const times = names.flatMap((name) => forbidden.get(name) ?? []);
      return times.length > 0 ? Math.min(...times) : undefined;
    },
    broken,
  });
  const database = createDatabase(world, faults, { ...safety.watcher, onLoad: noteLoad });
  const attempts = createAttempts(world.nowMs, safety.onPost);
  const temporal = createTemporal(world, faults, streams("temporal"), safety);
  const network = createNetwork(world, streams("network"), (url) => {
    broken("nothing is sent inside", url);
  });

  const clocks = streams("clocks");
  const areClocksWrong = clocks.chance(0.3);
  /** How far the clock of each started dispatcher is ahead. */
  const aheads = [0];
  let isRestored = false;

  let core: Core | undefined;
  const cuts: Cut[] = [];
  const dispatchers: (Dispatcher | undefined)[] = [];
  const endpoints: { readonly id: string; readonly accountNo: number }[] = [];
  const accounts: Account[] = scenario.accounts.map((count, index) => {
    const [accountNo, accountId] = [index + 1, leastIdAt(index + 1)];
    const row = { accountNo, id: accountId, blockedAt: null, feedChangedAt: 0 };
    database.tables.accounts.set(accountNo, row);
    for (let number = 0; number < count; number++) {
      const id = `endpoint000${index}00${number}`;
      database.tables.endpoints.set(id, {
        ...{ accountNo, id, url: urlOf(id), secret: makeSecret(id, 0) },
        ...{ switchedOn: true, deletedAt: null },
      });
      endpoints.push({ id, accountNo });
    }
    return { accountNo, accountId };
  });

  function makeSecret(endpointId: string, version: number): Buffer {
    const secret = `whsec_${Buffer.from(`${endpointId} ${version}`).toString("base64")}`;
    const encrypted = encryptSecret(SECRET_KEYS, endpointId, secret);
    secrets.set(encrypted, secret);
    return encrypted;
  }

  const livingCore = () => (core?.process.isAlive() ? core : undefined);

  function startCore(): void {
    if (livingCore() === undefined) core = createCore(world, database, streams("core"));
  }

  function startDispatcher(number: number): void {
    if (dispatchers[number]?.process.isAlive()) return;
    const cut = cuts[number] ?? notCut();
    cuts[number] = cut;
    const wire = { world, faults, cut, core: livingCore, onAnswer };
    const aheadMs = areClocksWrong ? clocks.between(-1, 1) ** 3 * MAX_AHEAD_MS : 0;
    aheads.push(aheadMs);
    const parts = { temporal, aheadMs, isWhole, network, attempts, safety };
    const version = streams("versions").pick(scenario.versions);
    dispatchers[number] = version.createDispatcher(wire, nameOf(number), parts);
  }

  function onAnswer(method: string, request: Message, answer: Message): void {
    for (const load of attempts.noteAnswer(method, request, answer)) {
      if (method === "claimAttempts") safety.onClaimed(load);
    }
  }

  /** Attempts that ended and are not recorded, if their process lives and its calls can reach the core. */
  function unrecorded(): BegunAttempt[] {
    const { frozen } = scenario;
    const mute = frozen?.kind === "cut there" ? nameOf(frozen.dispatcher) : undefined;
    for (const one of attempts.unrecorded) {
      const isOver = !one.process.isAlive() || database.tables.attempts.has(keyOf(one));
      if (isOver) attempts.unrecorded.delete(one);
    }
    return [...attempts.unrecorded].filter(
      ({ endedMs, process }) => endedMs !== undefined && process.name !== mute,
    );
  }

  function startAll(): void {
    startCore();
    for (let number = 0; number < scenario.dispatchers; number++) startDispatcher(number);
  }
  startAll();

  return {
    ...{ world, faults, database, attempts, temporal, network, forbidden, allowing, bulkRetries },
    ...{ accounts, endpoints, dispatchers, cuts, makeSecret, unrecorded, broken },
    ...{ startCore, startDispatcher },
    core: livingCore,
    violation: () => violation,
    ownerOf({ accountNo }: Pick<Account, "accountNo">): Owner {
      const [living, account] = [livingCore(), accounts[accountNo - 1]];
      if (living === undefined || account === undefined) throw new Error("no core lives");
      return createOwner(account, { ...living, noteWritten: noteLoad });
    },
    /** Whether no work is in progress, except for ignored endpoints. */
    isIdle: (isIgnored: (endpointId: string) => boolean = () => false) =>
      [...attempts.inFlight].every(({ endpointId }) => isIgnored(endpointId)) &&
      !temporal.isBusy((id) => isIgnored(database.tables.deliveries.get(id)?.endpointId ?? "")) &&
      unrecorded().every(({ endpointId }) => isIgnored(endpointId)),
    /** Whether an endpoint hangs forever. */
    isFrozen: network.isFrozen,
    /** Whether a dispatcher is cut off from the core forever, in one direction. */
    isCut: scenario.frozen !== undefined && scenario.frozen.kind !== "hangs",
    /** Begins a fault that never heals. */
    freeze(frozen: Frozen): void {
      if (frozen.kind === "hangs") {
        network.freeze(endpoints[frozen.endpoint]?.id ?? "");
        return;
      }
      const cut = cuts[frozen.dispatcher];
      if (cut) Object.defineProperty(cut, frozen.kind, { get: () => true, set: () => undefined });
    },
    forgetWorkflow(id: string): void {
      temporal.forget(id);
      knownAtRestore.delete(id);
    },
    backUp(): void {
      backup = { restore: database.tables.backUp(), forbidden: new Map(forbidden) };
    },
    /**
     * Kills all processes but Temporal, restores the last backup, and starts the processes. What owners forbade since
     * the backup is forgotten.
     */
    restore(): void {
      if (backup === undefined) return;
      isRestored = true;
      core?.process.kill();
      for (const dispatcher of dispatchers) dispatcher?.process.kill();
      database.restore(backup.restore);
      forbidden.clear();
      for (const [name, sinceMs] of backup.forbidden) forbidden.set(name, sinceMs);
      backup = undefined;
      for (const row of database.tables.deliveries.values()) {
        if (row.state !== DeliveryState.Retrying) continue;
        knownAtRestore.set(deliverWorkflowId(row), temporal.attemptsOf(row));
      }
      startAll();
    },
    heal(): void {
      faults.heal();
      faults.note();
      network.heal();
      database.setAway(false);
      database.setReadOnly(false);
      database.tables.refused.clear();
      temporal.setAway(false);
      for (const cut of cuts) Object.assign(cut, notCut());
      startAll();
    },
  };
}
