import { mkdir, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { BUILT_WORKFLOWS, bundledCode } from "./temporal/worker.ts";

// For an image, whose root is read-only: workers take what stands here, and bundle nothing. With `--print` a worker
// reads the bundle instead.
if (process.argv.includes("--print")) process.stdout.write(await bundledCode());
else await build();

async function build(): Promise<void> {
  await mkdir(dirname(BUILT_WORKFLOWS), { recursive: true });
  // Whole or not at all: a worker that starts meanwhile reads it.
  const fresh = `${BUILT_WORKFLOWS}.${process.pid}`;
  await writeFile(fresh, await bundledCode());
  await rename(fresh, BUILT_WORKFLOWS);
}
