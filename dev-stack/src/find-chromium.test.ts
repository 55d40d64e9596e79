import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { useFolder } from "../../test/harness/use-started.ts";
import { findChromium } from "./find-chromium.ts";
import { silentProgress } from "./progress.ts";

const folder = useFolder("chromium");

it("names google-chrome and CHROMIUM on Ubuntu, which has no Chromium to fetch", async () => {
  const osRelease = join(folder, "os-release");
  await writeFile(osRelease, 'NAME="Ubuntu"\nVERSION_ID="24.04"\nID=ubuntu\nID_LIKE=debian\n');
  const options = { env: { PATH: "" }, progress: silentProgress };
  await expect(findChromium(options, osRelease)).rejects.toThrow(
    /^Ubuntu has no .*: install google-chrome .*, or set CHROMIUM to the path of/,
  );
});
