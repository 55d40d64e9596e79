import type { Checkpoint, CheckpointState } from "./checkpoint.ts";

/** Keeps the place in memory: a follower that begins again with it goes on, a new process does not. */
export function memory(): Checkpoint {
  let saved: CheckpointState | undefined;
  return {
    load: () => saved,
    save(state) {
      saved = state;
    },
  };
}
