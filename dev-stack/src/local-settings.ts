import { randomBytes } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import { hasSystemCode } from "./stack-error.ts";

/** What one machine's product keeps beside its database, readable by its owner only. */
export type LocalSettings = {
  /** Signs cursors: 64 hexadecimal characters. */
  readonly cursorKey: string;
  /** Encrypts the signing secrets of endpoints: 64 hexadecimal characters. */
  readonly secretKey: string;
  /** Where the core listened last; for the import tool. */
  readonly coreUrl?: string;
  /** A credential with every permission; for the import tool and the demo. */
  readonly serviceCredential?: string;
  /** The demo account's id and key. */
  readonly demo?: { readonly accountId: string; readonly apiKey: string };
  /** The demo account's endpoint at the receiver of this machine. */
  readonly receiver?: {
    readonly port: number;
    readonly endpointId: string;
    readonly secret: string;
  };
};

/** Reads the settings, with random keys in place of those that are missing: the caller keeps them. */
export async function readLocalSettings(file: string): Promise<LocalSettings> {
  const text = await readFile(file, "utf8").catch((error) => {
    if (!hasSystemCode(error, "ENOENT")) throw error;
    return "{}";
  });
  return { cursorKey: newKey(), secretKey: newKey(), ...JSON.parse(text) };
}

const newKey = () => randomBytes(32).toString("hex");

/** Replaces the settings in one step, so that a kill leaves the old ones or the new. */
export async function writeLocalSettings(file: string, settings: LocalSettings): Promise<void> {
  const next = `${file}.new`;
  await writeFile(next, `${JSON.stringify(settings, null, 2)}\n`, { mode: 0o600 });
  await rename(next, file);
}
