/** A link to the database. `work` runs once at one moment, or never. Its answer may be lost. */
export type Link = <Result>(
  call: { readonly name: string; readonly isWrite: boolean },
  work: () => Result,
) => Promise<Result>;

/** Connections of a process, which are lost together. */
export type Session = { isOver: boolean };
/** A transaction that locks rows. Once it or its session has ended, it changes nothing. */
export type Transaction = { readonly session: Session; isOver: boolean };

export const isOver = (transaction: Transaction) =>
  transaction.isOver || transaction.session.isOver;

/** Creates the locks of a database's rows. */
export function createLocks() {
  const holders = new Map<string, Transaction>();
  let waiting: (() => void)[] = [];

  const isHeld = (rows: readonly string[]) => rows.some((row) => holders.has(row));

  function releaseWhere(isReleased: (holder: Transaction) => boolean): void {
    for (const [row, holder] of holders) if (isReleased(holder)) holders.delete(row);
    const told = waiting;
    waiting = [];
    for (const resolve of told) resolve();
  }

  return {
    isHeld,

    takeFree(rows: readonly string[], holder: Transaction): string[] {
      const free = rows.filter((row) => !holders.has(row));
      for (const row of free) holders.set(row, holder);
      return free;
    },

    end(transaction: Transaction): void {
      transaction.isOver = true;
      releaseWhere((holder) => holder === transaction);
    },
    endSession(session: Session): void {
      session.isOver = true;
      releaseWhere((holder) => holder.session === session);
    },

    /** Does a write as soon as no transaction has locked any of its rows. */
    async whenFree<Result>(
      link: Link,
      name: string,
      rows: readonly string[],
      work: () => Result,
    ): Promise<Result> {
      for (;;) {
        const done = await link({ name, isWrite: true }, () => {
          if (!isHeld(rows)) return { result: work() };
          // Waits from now on: the lock may end while the answer travels.
          const freed = Promise.withResolvers<void>();
          waiting.push(freed.resolve);
          return { freed: freed.promise };
        });
        if (done.freed === undefined) return done.result;
        await done.freed;
      }
    },
  };
}
