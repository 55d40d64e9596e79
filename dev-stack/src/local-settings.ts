import { randomBytes } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import { hasSystemCode, StackError, stackErrorFromFile } from "./stack-error.ts";

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
  /** The demo account's id and API key. */
  readonly demo?: { readonly accountId: string; readonly apiKey: string };
  /** The demo account's endpoint at this machine's receiver. */
  readonly receiver?: {
    readonly port: number;
    readonly endpointId: string;
    readonly secret: string;
  };
};

/** Reads the settings. Creates missing keys, which the caller must store. Throws a {@link StackError}. */
export async function readLocalSettings(file: string): Promise<LocalSettings> {
  const text = await readFile(file, "utf8").catch((error) => {
    if (!hasSystemCode(error, "ENOENT")) throw stackErrorFromFile(error, file);
    return "{}";
  });
  return { cursorKey: newKey(), secretKey: newKey(), ...parse(file, text) };
}

function parse(file: string, text: string): Partial<LocalSettings> {
  try {
    return JSON.parse(text);
  } catch {
    throw new StackError(
      `${file} is not JSON. It holds the keys of the stored secrets: restore it from a backup, or move its folder away to begin again.`,
    );
  }
}

const newKey = () => randomBytes(32).toString("hex");

/** Replaces the settings atomically. Throws a {@link StackError}. */
export async function writeLocalSettings(file: string, settings: LocalSettings): Promise<void> {
  const next = `${file}.new`;
  const text = `${JSON.stringify(settings, null, 2)}\n`;
  try {
    // Flushes the file before the rename. Otherwise it could be empty after a power cut.
    await writeFile(next, text, { mode: 0o600, flush: true });
    await rename(next, file);
  } catch (error) {
    throw stackErrorFromFile(error, file);
  }
}
