import type { Pool, PoolConnection } from "./pool.ts";

/** The database did not answer in time. */
export class DatabaseTimeoutError extends Error {
  override readonly name = "DatabaseTimeoutError";
}

/**
 * Runs `work` on a connection of `pool` and rejects with DatabaseTimeoutError after `milliseconds`, the
 * wait for a connection included. A connection whose work failed or came late is closed, never reused: an
 * answer that arrives later cannot be taken for another's.
 */
export async function withDeadline<Result>(
  pool: Pool,
  milliseconds: number,
  work: (connection: PoolConnection) => Promise<Result>,
): Promise<Result> {
  let expired = false;
  let connection: PoolConnection | undefined;
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      expired = true;
      connection?.destroy();
      reject(new DatabaseTimeoutError(`The database took longer than ${milliseconds} ms.`));
    }, milliseconds);
  });
  const run = async () => {
    const acquired = await pool.getConnection();
    if (expired) return acquired.release() as never;
    connection = acquired;
    try {
      const result = await work(acquired);
      if (!expired) acquired.release();
      return result;
    } catch (error) {
      acquired.destroy();
      throw error;
    }
  };
  const answer = run();
  // When the deadline wins the race nobody waits for this failure any more.
  answer.catch(() => {});
  try {
    return await Promise.race([answer, deadline]);
  } finally {
    clearTimeout(timer);
  }
}
