import { randomBytes } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import { hasSystemCode } from "./stack-error.ts";

/** The settings of the product on one machine, stored beside its database and readable only by its owner. */
export type LocalSettings = {
  /** Signs cursors: 64 hexadecimal digits. */
  readonly cursorKey: string;
  /** Encrypts the endpoints' signing secrets: 64 hexadecimal digits. */
  readonly secretKey: string;
  /** The core's last address, for the import tool. */
  readonly coreUrl?: string;
  /** A credential with every permission, for the import tool and the demo. */
  readonly serviceCredential?: string;
  /** The demo account's id and key. */
  readonly demo?: { readonly accountId: string; readonly apiKey: string };
  /** The demo account's endpoint at this machine's receiver. */
  readonly receiver?: {
    readonly port: number;
    readonly endpointId: string;
    readonly secret: string;
  };
};

/** Reads the settings. Adds random keys for missing ones. The caller stores them. */
export async function readLocalSettings(file: string): Promise<LocalSettings> {
  const text = await readFile(file, "utf8").catch((error) => {
    if (!hasSystemCode(error, "ENOENT")) throw error;
    return "{}";
  });
  return { cursorKey: newKey(), secretKey: newKey(), ...JSON.parse(text) };
}

const newKey = () => randomBytes(32).toString("hex");

/** Replaces the settings atomically. */
export async function writeLocalSettings(file: string, settings: LocalSettings): Promise<void> {
  const next = `${file}.new`;
  await writeFile(next, `${JSON.stringify(settings, null, 2)}\n`, { mode: 0o600 });
  await rename(next, file);
}
