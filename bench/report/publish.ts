import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Where results are kept. */
export const RESULTS = fileURLToPath(new URL("../results", import.meta.url));

/** Prints what a run measured; it is kept too when it has a name to be kept by. */
export async function publish(
  results: object,
  markdown: string,
  keptAs: string | undefined,
): Promise<void> {
  process.stdout.write(`\n${markdown}`);
  if (keptAs === undefined) return;
  await mkdir(RESULTS, { recursive: true });
  await writeFile(join(RESULTS, `${keptAs}.json`), `${JSON.stringify(results, undefined, 2)}\n`);
  await writeFile(join(RESULTS, `${keptAs}.md`), markdown);
}
