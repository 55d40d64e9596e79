import { createReadStream } from "node:fs";

// Bytes are searched as latin1 text: each byte is one character.

/** The UTF-8 bytes of a text. */
export function bytesOf(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

/** The bytes that a signing secret encodes. */
export function secretBytes(secret: string): string {
  return Buffer.from(secret.replace("whsec_", ""), "base64").toString("latin1");
}

/** Searches a file of any size. Returns the needles that it contains. */
export async function searchFile(file: string, needles: readonly string[]): Promise<Set<string>> {
  const found = new Set<string>();
  const longest = Math.max(...needles.map((needle) => needle.length));
  let tail = "";
  for await (const chunk of createReadStream(file, { encoding: "latin1" })) {
    const text = tail + String(chunk);
    for (const needle of needles) if (text.includes(needle)) found.add(needle);
    tail = text.slice(-longest);
  }
  return found;
}
