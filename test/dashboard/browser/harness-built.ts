import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildDashboard } from "../../../dev-stack/src/build-dashboard.ts";
import { waitForLock } from "../../../dev-stack/src/file-lock.ts";
import { createProgress } from "../../../dev-stack/src/progress.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** Builds the dashboard if its sources are newer. Parallel test files build it once. Returns its folder. */
export async function builtDashboard(): Promise<string> {
  await mkdir(join(ROOT, ".cache"), { recursive: true });
  const lock = await waitForLock(join(ROOT, ".cache/dashboard.lock"), () => undefined);
  try {
    if (!(await buildDashboard(createProgress()))) throw new Error("the dashboard is not built");
  } finally {
    lock.release();
  }
  return join(ROOT, "dashboard/dist");
}
