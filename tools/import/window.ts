/** Bounds how much is under way at once. */
export type Window = {
  /** Waits for room and takes it; resolves to `false` once the window is closed. */
  enter(): Promise<boolean>;
  /** Gives room back. */
  leave(): void;
  /** Lets nobody in any more. */
  close(): void;
};

/** Creates a window with room for `size` at once, for one that enters. */
export function createWindow(size: number): Window {
  let room = size;
  let isClosed = false;
  let changed = Promise.withResolvers<void>();

  function wake(): void {
    changed.resolve();
    changed = Promise.withResolvers();
  }

  return {
    async enter() {
      while (room === 0 && !isClosed) await changed.promise;
      room -= 1;
      return !isClosed;
    },
    leave() {
      room += 1;
      wake();
    },
    close() {
      isClosed = true;
      wake();
    },
  };
}
