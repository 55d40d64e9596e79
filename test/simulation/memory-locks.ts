/** Connections that are lost together. */
export type Session = { isOver: boolean };
/** A transaction. What reaches the database after its end changes nothing. */
export type Holder = { readonly session: Session; isOver: boolean };

/** Which rows transactions have locked. */
export function createLocks() {
  const holders = new Map<string, Holder>();
  let waiting: (() => void)[] = [];

  function releaseWhere(isReleased: (holder: Holder) => boolean): void {
    for (const [name, holder] of holders) if (isReleased(holder)) holders.delete(name);
    const told = waiting;
    waiting = [];
    for (const tell of told) tell();
  }

  return {
    isHeld: (names: readonly string[]) => names.some((name) => holders.has(name)),

    /** Locks those that are free, and returns them. */
    takeFree(names: readonly string[], holder: Holder): string[] {
      const free = names.filter((name) => !holders.has(name));
      for (const name of free) holders.set(name, holder);
      return free;
    },

    release(holder: Holder): void {
      holder.isOver = true;
      releaseWhere((other) => other === holder);
    },
    releaseSession(session: Session): void {
      session.isOver = true;
      releaseWhere((other) => other.session === session);
    },

    /** Resolves when anything was released. */
    released: () => new Promise<void>((resolve) => waiting.push(resolve)),
  };
}
