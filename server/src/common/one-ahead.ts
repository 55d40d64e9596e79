/**
 * Yields a source's items in order, and requests the next one while the caller works on the current one. If the source
 * fails, the failure follows its items.
 */
export async function* oneAhead<Item>(source: AsyncIterable<Item>): AsyncGenerator<Item> {
  const items = source[Symbol.asyncIterator]();
  let next = items.next();
  try {
    for (;;) {
      const { done, value } = await next;
      if (done) return;
      next = items.next();
      // Prevents an unhandled rejection. The next `await` throws the failure.
      next.catch(() => undefined);
      yield value;
    }
  } finally {
    // Does not await the return, because a requested item may never come.
    items.return?.()?.catch(() => undefined);
  }
}
