import type { Progress } from "./progress.ts";

/** The options of everything that finds, downloads or starts a program. */
export interface StackOptions {
  /** The source of PATH and of the variables that name programs and servers. */
  env: NodeJS.ProcessEnv;
  /** The folder of downloaded programs, by default the user's cache folder. */
  cacheDir?: string | undefined;
  progress: Progress;
}
