import { mkdir, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { BUILT_WORKFLOWS, bundledCode } from "./temporal/worker.ts";

// Bundles the workflows into a file of the container image. The image's root is read-only, so its workers cannot
// bundle: they load the file. With `--print`, this prints the bundle instead, to the worker that started it.
if (process.argv.includes("--print")) process.stdout.write(await bundledCode());
else await build();

async function build(): Promise<void> {
  await mkdir(dirname(BUILT_WORKFLOWS), { recursive: true });
  // The file is renamed into place: a worker that starts now must not read half of it.
  const fresh = `${BUILT_WORKFLOWS}.${process.pid}`;
  await writeFile(fresh, await bundledCode());
  await rename(fresh, BUILT_WORKFLOWS);
}
