import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/** Returns the folder of downloaded programs, which all checkouts of this user share. */
export function cacheFolder(env: NodeJS.ProcessEnv): string {
  const named = env.XDG_CACHE_HOME ?? "";
  const folder = isAbsolute(named) ? named : join(homedir(), ".cache");
  return join(folder, "personal-activity");
}
