import type { Checkpoint, CheckpointState } from "./checkpoint.ts";

/** Keeps the position in memory. A new follower in this process continues from that position; a new process cannot. */
export function memory(): Checkpoint {
  let saved: CheckpointState | undefined;
  return {
    load: () => saved,
    save(state) {
      saved = state;
    },
  };
}
