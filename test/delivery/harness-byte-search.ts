import { createReadStream } from "node:fs";

// Bytes are searched as latin1 texts, in which each byte is one character.

/** The bytes of a text, as they lie in files and histories. */
export function bytesOf(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

/** The bytes that a signing secret stands for. */
export function secretBytes(secret: string): string {
  return Buffer.from(secret.replace("whsec_", ""), "base64").toString("latin1");
}

/** Searches a file of any size for bytes; returns those that it holds. */
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
