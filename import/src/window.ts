/** Limits how much is in flight at once. */
export type Window = {
  /** Waits for capacity and takes it. Resolves with `false` if the window is closed. */
  enter(): Promise<boolean>;
  /** Releases capacity. */
  leave(): void;
  /** Closes the window. */
  close(): void;
};

/** Creates a window with a capacity of `size`, for a single caller. */
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
