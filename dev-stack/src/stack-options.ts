import type { Progress } from "./progress.ts";

/** What a caller tells of itself to whatever finds, fetches or starts something. */
export interface StackOptions {
  /** Variables that name programs and servers are read from here, and PATH. */
  env: NodeJS.ProcessEnv;
  /** Where fetched programs are kept; the user's cache folder unless told. */
  cacheDir?: string | undefined;
  progress: Progress;
}
