import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it, vi } from "vitest";
import { silentProgress } from "../../dev-stack/src/progress.ts";
import { buildGoModule } from "../harness/go-module.ts";
import { TEMPORAL_SERVER } from "./harness-temporal-cluster.ts";

const VERSION = "v1.32.1";
const GO_MOD = "module go.temporal.io/server\n";

it("builds nothing of a module that is not the pinned one, even where nobody else checks it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "activity-forged-"));
  const at = (...names: string[]) => join(folder, ...names);
  const served = at("proxy", "go.temporal.io", "server", "@v");
  mkdirSync(served, { recursive: true });
  writeFileSync(join(served, `${VERSION}.info`), JSON.stringify({ Version: VERSION }));
  writeFileSync(join(served, `${VERSION}.mod`), GO_MOD);
  const script = "import sys, zipfile; zipfile.ZipFile(sys.argv[1], 'w').writestr(*sys.argv[2:])";
  const entry = `go.temporal.io/server@${VERSION}/go.mod`;
  execFileSync("python3", ["-c", script, join(served, `${VERSION}.zip`), entry, GO_MOD]);
  vi.stubEnv("GOPROXY", pathToFileURL(at("proxy")).href);
  vi.stubEnv("GOSUMDB", "off");
  vi.stubEnv("GOMODCACHE", at("modules"));
  vi.stubEnv("GOFLAGS", "-modcacherw");
  try {
    const found = buildGoModule(TEMPORAL_SERVER, {
      ...{ env: process.env, cacheDir: at("cache"), progress: silentProgress },
    });
    await expect(found).rejects.toThrow("not the module that this project pins by its hash");
    expect(readdirSync(at("cache")).filter((name) => /-x64$|-arm64$/.test(name))).toEqual([]);
  } finally {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true, force: true });
  }
});
