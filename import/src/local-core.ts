import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ImportError } from "./import-error.ts";

/** The files in which `npm start` stores its core's address and a credential. They are missing before its first run. */
export type LocalCore = { readonly coreUrl?: string; readonly serviceCredential?: string };

/** Reads what `npm start` stored in `dataDir`. */
export async function readLocalCore(dataDir: string): Promise<LocalCore> {
  const file = join(dataDir, "local.json");
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return {};
    throw new ImportError(`${file} cannot be read: ${(error as Error).message}.`);
  }
}
