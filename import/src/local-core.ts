import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { codeOf, ImportError } from "./import-error.ts";

/** What `npm start` stores: its core's address and a credential. Empty before its first run. */
export type LocalCore = { readonly coreUrl?: string; readonly serviceCredential?: string };

/** Reads what `npm start` stored, unless the environment names another core and a credential for it. */
export async function readLocalCore(
  env: Readonly<Record<string, string | undefined>>,
): Promise<LocalCore> {
  if (env.CORE_URL && (env.SERVICE_CREDENTIAL || env.SERVICE_CREDENTIAL_FILE)) return {};
  const file = join(env.DATA_DIR || ".data", "local.json");
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch (error) {
    if (codeOf(error) === "ENOENT") return {};
    // Leaves out the message of a SyntaxError, which quotes the file and thus its credential.
    const why = error instanceof SyntaxError ? "it is not JSON" : (error as Error).message;
    throw new ImportError(`${file} cannot be read: ${why}.`);
  }
}
