import { DatabaseTimeoutError } from "../../server/src/database/deadline.ts";
import { Fault, type Faults } from "./faults.ts";
import type { Link, Session } from "./memory-locks.ts";
import { createTables, type TableWatcher } from "./memory-tables.ts";
import { EPOCH_MS, type Process, type World } from "./world.ts";

/** The deadline of `queryWithin`. */
const DEADLINE_MS = 10_000;

export type Database = ReturnType<typeof createDatabase>;

/** A step of the database's clock. */
type Step = { readonly atMs: number; readonly fromMicros: number; readonly toMicros: number };

/** Creates an empty database with connections, and with a clock that is right at first. */
export function createDatabase(world: World, faults: Faults, watcher: TableWatcher) {
  let stepMs = 0;
  const steps: Step[] = [];
  let isReadOnly = false;
  let isAway = false;
  /** How many restored databases replaced the first. A statement never reaches a later database than its own. */
  let replaced = 0;
  const nowMicros = () => Math.floor((EPOCH_MS + stepMs + world.nowMs()) * 1000);
  const tables = createTables(nowMicros, watcher);

  /** Connects a process. The server releases the locks of the process once it notices that the process has ended. */
  function connect(process: Process): { readonly link: Link; readonly session: Session } {
    const session: Session = { isOver: false };
    process.onKill(() => {
      const { thereMs } = faults.pass(`end of ${process.name}`);
      world.after(thereMs, () => tables.locks.endSession(session));
    });
    const link: Link = ({ name, isWrite }, work) => {
      const answer = Promise.withResolvers<ReturnType<typeof work>>();
      const { thereMs, backMs, fault } = faults.pass(`database ${name}`);
      const back = (settle: () => void) => world.after(backMs, settle, process);
      const fail = (error: Error) => back(() => answer.reject(error));
      const late = () => answer.reject(new DatabaseTimeoutError("too late"));
      const forget = world.after(DEADLINE_MS, late, process);
      answer.promise.then(forget, forget);
      if (!process.isAlive()) return answer.promise;
      const server = replaced;
      world.after(thereMs, () => {
        if (server !== replaced) return undefined;
        if (isAway || fault === Fault.Refused) return fail(lostConnection());
        if (fault === Fault.Lost) return undefined;
        if (isWrite && isReadOnly) return fail(readOnly());
        try {
          const result = work();
          if (fault === Fault.Broken) return fail(lostConnection());
          return fault === Fault.AnswerLost ? undefined : back(() => answer.resolve(result));
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
    /** Sets how far the clock is ahead of the true time. */
    setClock(toMs: number): void {
      const fromMicros = nowMicros();
      stepMs = toMs;
      steps.push({ atMs: world.nowMs(), fromMicros, toMicros: nowMicros() });
    },
    /** The steps of the clock so far. */
    steps,
    restore(backup: () => void): void {
      replaced += 1;
      backup();
    },
    setReadOnly(is: boolean): void {
      isReadOnly = is;
    },
    /** Makes the database unavailable. An open connection breaks with its next statement. */
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
