import { join } from "node:path";
import { createProgress } from "../../dev-stack/src/progress.ts";
import { startTemporal } from "../../dev-stack/src/temporal.ts";
import { useStarted } from "./use-started.ts";

/** A Temporal with its state in a folder, for the tests of a file or group. */
export const useTemporal = (folder: string) =>
  useStarted(() =>
    startTemporal({
      ...{ env: process.env, dataDir: join(folder, "temporal"), progress: createProgress() },
    }),
  );
