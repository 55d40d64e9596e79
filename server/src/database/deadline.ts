import type { Socket } from "node:net";
import type { PoolConnection as CallbackConnection } from "mysql2";
import type { Pool } from "./pool.ts";
import { isOutdated, noteFailure } from "./switch-over.ts";

/** The database did not answer in time. */
export class DatabaseTimeoutError extends Error {
  override readonly name = "DatabaseTimeoutError";
}

/** Takes a connection's answer, like the driver's callbacks. */
export type Answer<Result> = (error: Error | null, result: Result) => void;

/** A connection of the driver, whose types hide the socket. */
type Cut = { destroy(): void; on(name: "error", listener: () => void): unknown };

/**
 * Closes a connection at once. The driver alone would first send a goodbye. Over TLS, a server that waits for a lock
 * does not read the goodbye, and would keep the session. Statements in flight fail, which ends their spans.
 */
export function cutOff(connection: Cut): void {
  // Ignores further errors: the driver listens for one error only, and a second one would end the process.
  connection.on("error", () => undefined);
  connection.destroy();
  const { stream } = connection as unknown as { readonly stream: Socket };
  stream.destroy(new Error("The connection was cut off."));
}

/**
 * Runs `ask` on a connection of `pool`. Rejects with DatabaseTimeoutError after `milliseconds`, including the wait for
 * a connection. A connection that failed or was late is closed, so that a late answer cannot reach another caller. This
 * function uses callbacks for speed, because the driver's promises record a stack for every statement.
 */
export function withDeadline<Result>(
  pool: Pool,
  milliseconds: number,
  ask: (connection: CallbackConnection, answer: Answer<Result>) => void,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    let connection: CallbackConnection | undefined;
    let over = false;
    const timer = setTimeout(() => {
      end();
      if (connection) cutOff(connection);
      reject(new DatabaseTimeoutError(`The database took longer than ${milliseconds} ms.`));
    }, milliseconds);

    function end(): void {
      over = true;
      clearTimeout(timer);
    }

    pool.pool.getConnection(function take(error, acquired) {
      if (error) {
        end();
        // An `errno` means that no connection was opened and no statement sent. The driver marks such an error as
        // fatal, but not if the server refused. This marks it in both cases.
        return reject("errno" in error ? Object.assign(error, { fatal: true }) : error);
      }
      if (over) return acquired.release();
      if (isOutdated(acquired)) {
        acquired.destroy();
        return pool.pool.getConnection(take);
      }
      connection = acquired;
      ask(acquired, (failure, result) => {
        if (over) return;
        end();
        if (failure) {
          noteFailure(pool.pool, failure);
          acquired.destroy();
          return reject(failure);
        }
        acquired.release();
        resolve(result);
      });
    });
  });
}
