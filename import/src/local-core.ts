import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** The files in which `npm start` stores its core's address and a credential. They are missing before its first run. */
export type LocalCore = { readonly coreUrl?: string; readonly serviceCredential?: string };

/** Reads what `npm start` stored in `dataDir`. */
export async function readLocalCore(dataDir: string): Promise<LocalCore> {
  try {
    return JSON.parse(await readFile(join(dataDir, "local.json"), "utf8"));
  } catch (error) {
    const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
    if (!isMissing) throw error;
    return {};
  }
}
