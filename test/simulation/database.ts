import { DatabaseTimeoutError } from "../../server/src/database/deadline.ts";
import { Fault, type Faults } from "./faults.ts";
import type { Session } from "./memory-locks.ts";
import type { Link } from "./memory-store.ts";
import { createTables, type TableWatcher } from "./memory-tables.ts";
import { EPOCH_MS, type Process, type World } from "./world.ts";

/** As `queryWithin` has it. */
const DEADLINE_MS = 10_000;

/** The database: its tables, its clock, and the ways to it. */
export type Database = ReturnType<typeof createDatabase>;

/** Creates an empty database whose clock is right. */
export function createDatabase(world: World, faults: Faults, watcher: TableWatcher) {
  let stepMs = 0;
  let steppedAtMs = Number.NEGATIVE_INFINITY;
  let isReadOnly = false;
  let isAway = false;
  /** How often another server took its place: what was on its way to the one before is lost. */
  let replaced = 0;
  const nowMicros = () => Math.floor((EPOCH_MS + stepMs + world.nowMs()) * 1000);
  const tables = createTables(nowMicros, watcher);

  /** The connections of a process; what it had locked is given back once the server misses it. */
  function connect(process: Process): { readonly link: Link; readonly session: Session } {
    const session: Session = { isOver: false };
    process.onKill(() => {
      const { thereMs } = faults.pass(`end of ${process.name}`);
      world.after(thereMs, () => tables.locks.releaseSession(session));
    });
    const link: Link = ({ name, isWrite }, ask) => {
      const answer = Promise.withResolvers<ReturnType<typeof ask>>();
      const { thereMs, backMs, fault } = faults.pass(`database ${name}`);
      const back = (settle: () => void) => world.after(backMs, settle, process);
      const fail = (error: Error) => back(() => answer.reject(error));
      const forget = world.after(
        DEADLINE_MS,
        () => answer.reject(new DatabaseTimeoutError("too late")),
        process,
      );
      answer.promise.then(forget, forget);
      if (!process.isAlive()) return answer.promise;
      const server = replaced;
      world.after(thereMs, () => {
        if (server !== replaced) return undefined;
        if (isAway || fault === Fault.Refused) return fail(lostConnection());
        if (fault === Fault.Lost) return undefined;
        if (isWrite && isReadOnly) return fail(readOnly());
        try {
          const result = ask();
          if (fault === Fault.Broken) return fail(lostConnection());
          if (fault === Fault.AnswerLost) return undefined;
          return back(() => answer.resolve(result));
        } catch (error) {
          if (error instanceof Error) return fail(error);
          throw error;
        }
      });
      return answer.promise;
    };
    return { link, session };
  }

  return {
    tables,
    connect,
    /** Steps the clock to so much before or after the right time. */
    setClock(toMs: number): void {
      stepMs = toMs;
      steppedAtMs = world.nowMs();
    },
    /** When that was last done. */
    steppedAtMs: () => steppedAtMs,
    /** Puts what a backup holds in its place. */
    restore(backup: () => void): void {
      replaced += 1;
      backup();
    },
    setReadOnly(is: boolean): void {
      isReadOnly = is;
    },
    /** Connections that are open are lost with their next statement. */
    setAway(is: boolean): void {
      isAway = is;
    },
  };
}

function lostConnection(): Error {
  return Object.assign(new Error("the connection was lost"), { fatal: true });
}

function readOnly(): Error {
  const code = "ER_OPTION_PREVENTS_STATEMENT";
  return Object.assign(new Error("read-only"), { code, errno: 1290, sqlState: "HY000" });
}
