import type { PoolConnection as CallbackConnection } from "mysql2";
import type { Pool } from "./pool.ts";

/** The database did not answer in time. */
export class DatabaseTimeoutError extends Error {
  override readonly name = "DatabaseTimeoutError";
}

/** Takes what a connection answered, as the driver's callbacks do. */
export type Answer<Result> = (error: Error | null, result: Result) => void;

/**
 * Asks something of a connection of `pool` and rejects with DatabaseTimeoutError after `milliseconds`, the
 * wait for a connection included. A connection that failed or came late is closed, never reused: an answer
 * that arrives later cannot be taken for another's. For the hot paths: it uses the driver's callbacks,
 * because its promises record a stack for every statement.
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
      connection?.destroy();
      reject(new DatabaseTimeoutError(`The database took longer than ${milliseconds} ms.`));
    }, milliseconds);

    function end(): void {
      over = true;
      clearTimeout(timer);
    }

    pool.pool.getConnection((error, acquired) => {
      if (error) {
        end();
        return reject(error);
      }
      if (over) return acquired.release();
      connection = acquired;
      ask(acquired, (failure, result) => {
        if (over) return;
        end();
        if (failure) {
          acquired.destroy();
          return reject(failure);
        }
        acquired.release();
        resolve(result);
      });
    });
  });
}
