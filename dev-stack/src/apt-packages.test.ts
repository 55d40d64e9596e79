import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import { useFolder } from "../../test/harness/use-started.ts";
import { fetchAptPackages } from "./apt-packages.ts";
import { silentProgress } from "./progress.ts";

const folder = useFolder("apt-packages");
afterEach(() => vi.unstubAllEnvs());

it.each([
  ["Unable to locate package tool", "E: Release file is not valid yet", "Release file is"],
  [
    "Package 'tool' has no installation candidate",
    "W: Failed to fetch U  407 P",
    "Failed to fetch",
  ],
])("says why apt could not read its lists if then: %s", async (lacking, cause, quoted) => {
  const bin = join(folder, quoted);
  await mkdir(bin);
  const says = `case "$*" in *update*) echo "${cause}";; *) echo "E: ${lacking}"; exit 100;; esac`;
  for (const name of ["apt-get", "dpkg-deb"]) {
    await writeFile(join(bin, name), `#!/bin/sh\n${says}\n`, { mode: 0o755 });
  }
  vi.stubEnv("PATH", `${bin}:${process.env.PATH}`);
  const tool = { title: "The tool", names: ["tool"], folder: "tool", megabytes: 1, otherwise: "" };
  const env = { ...process.env, XDG_CACHE_HOME: bin };
  await expect(fetchAptPackages(tool, { env, progress: silentProgress })).rejects.toThrow(
    `with apt-get (${cause.slice("E: ".length)}; ${lacking}): check the network`,
  );
});
