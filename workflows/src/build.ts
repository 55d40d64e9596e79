import { mkdir, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { BUILT_WORKFLOWS, bundledCode } from "./temporal/worker.ts";

// Builds the workflows for an image, whose root is read-only: its workers load this file instead of bundling. With
// `--print` it prints the bundle, for a worker that reads it.
if (process.argv.includes("--print")) process.stdout.write(await bundledCode());
else await build();

async function build(): Promise<void> {
  await mkdir(dirname(BUILT_WORKFLOWS), { recursive: true });
  // Renamed into place: a worker that starts now must not read half a file.
  const fresh = `${BUILT_WORKFLOWS}.${process.pid}`;
  await writeFile(fresh, await bundledCode());
  await rename(fresh, BUILT_WORKFLOWS);
}
