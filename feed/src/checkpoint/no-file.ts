import { FeedError } from "../feed-error.ts";
import type { Checkpoint } from "./checkpoint.ts";

/** Replaces `file` in runtimes without files. It throws `invalid_option`. */
export function file(_path: string): Checkpoint {
  throw new FeedError(
    "invalid_option",
    "This runtime has no files: pass a checkpoint of your own with load() and save(state), which " +
      "keeps the state in its storage.",
  );
}
