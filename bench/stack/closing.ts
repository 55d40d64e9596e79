/** What is open, to be closed in the opposite order. */
export type Closing = {
  add(close: () => unknown): void;
  /** Closes everything; whatever one of them fails with, the next one is closed too. */
  closeAll(): Promise<void>;
};

/** Collects what a run opens. */
export function createClosing(): Closing {
  const open: (() => unknown)[] = [];
  return {
    add: (close) => open.push(close),
    async closeAll() {
      for (const close of open.splice(0).toReversed()) await closeQuietly(close);
    },
  };
}

async function closeQuietly(close: () => unknown): Promise<void> {
  try {
    await close();
  } catch {
    // What failed to close has ended already.
  }
}
