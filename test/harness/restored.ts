import { readFile } from "node:fs/promises";
import type { TestDatabase } from "./database.ts";

const RESTORED = new URL("../../deploy/restored.sql", import.meta.url);

/** Runs the script for restored databases, each statement alone. */
export async function runRestored({ query }: TestDatabase): Promise<void> {
  const text = await readFile(RESTORED, "utf8");
  const statements = text
    .replace(/^--.*$/gm, "")
    .split(/;\n/)
    .slice(0, -1);
  for (const statement of statements) await query(statement);
}
