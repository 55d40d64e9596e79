import { readFile } from "node:fs/promises";

// Bytes are searched as latin1 text: each byte is one character.

/** The UTF-8 bytes of a text. */
export function bytesOf(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

/** The bytes that a signing secret encodes. */
export function secretBytes(secret: string): string {
  return Buffer.from(secret.replace("whsec_", ""), "base64").toString("latin1");
}

export async function searchFile(file: string, needles: readonly string[]): Promise<Set<string>> {
  const text = await readFile(file, "latin1");
  return new Set(needles.filter((needle) => text.includes(needle)));
}
