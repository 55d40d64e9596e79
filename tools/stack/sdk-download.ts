import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";

/** What the SDK can fetch: the command line's server, or the server whose clock skips. */
export type SdkServer = "createLocal" | "createTimeSkipping";

/**
 * Lets Temporal's SDK fetch a server's program from Temporal's own site, which it does by starting it, and
 * puts the program at `path`. TLS vouches for what comes: unlike a wheel it is not pinned by a hash.
 */
export async function downloadWithSdk(
  server: SdkServer,
  version: string,
  path: string,
): Promise<void> {
  // Slow to load, and hardly ever needed.
  const { TestWorkflowEnvironment } = await import("@temporalio/testing");
  const folder = `${path}.downloads`;
  await mkdir(folder);
  try {
    const executable = { type: "cached-download", version, downloadDir: folder } as const;
    const environment = await TestWorkflowEnvironment[server]({ server: { executable } });
    await environment.teardown();
    const [downloaded = ""] = await readdir(folder);
    await rename(join(folder, downloaded), path);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
