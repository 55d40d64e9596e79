/**
 * Gives what a source gives, in its order, and has it make the next while the one before is worked on. A source that
 * fails does so behind what it gave.
 */
export async function* oneAhead<Item>(source: AsyncIterable<Item>): AsyncGenerator<Item> {
  const items = source[Symbol.asyncIterator]();
  let next = items.next();
  try {
    for (;;) {
      const { done, value } = await next;
      if (done) return;
      next = items.next();
      // Told when its turn comes.
      next.catch(() => undefined);
      yield value;
    }
  } finally {
    // Not waited for: what was asked for may never come.
    items.return?.()?.catch(() => undefined);
  }
}
