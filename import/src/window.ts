/** Bounds how much is in flight at once. */
export type Window = {
  /** Waits for capacity and takes it; resolves to `false` once the window is closed. */
  enter(): Promise<boolean>;
  /** Gives capacity back. */
  leave(): void;
  /** Lets nobody in any more. */
  close(): void;
};

/** Creates a window with capacity for `size` at once, for one that enters. */
export function createWindow(size: number): Window {
  let capacity = size;
  let isClosed = false;
  let changed = Promise.withResolvers<void>();

  function wake(): void {
    changed.resolve();
    changed = Promise.withResolvers();
  }

  return {
    async enter() {
      while (capacity === 0 && !isClosed) await changed.promise;
      capacity -= 1;
      return !isClosed;
    },
    leave() {
      capacity += 1;
      wake();
    },
    close() {
      isClosed = true;
      wake();
    },
  };
}
