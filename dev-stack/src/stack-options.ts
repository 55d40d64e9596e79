import type { Progress } from "./progress.ts";

/** The options of everything that finds, downloads or starts a program. */
export interface StackOptions {
  /** The source of PATH, of the cache's folder, and of the variables that name programs and servers. */
  env: NodeJS.ProcessEnv;
  progress: Progress;
}
