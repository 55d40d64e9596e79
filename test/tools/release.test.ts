import { execFile, execFileSync } from "node:child_process";
import { appendFileSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROOT } from "../architecture/import-rule.ts";
import { listenLocally } from "../harness/listening.ts";
import { copyProject } from "../harness/project-copy.ts";
import { useFolder } from "../harness/use-started.ts";

/** A repository with the project's files, and a registry that records its requests. */
const folder = useFolder("release");
let registry: Server;
let registryPort: number;
const asked: string[] = [];

beforeAll(async () => {
  copyProject(folder);
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  appendFileSync(join(folder, ".gitignore"), "node_modules\n");
  git("init", "--quiet");
  git("config", "user.name", "test");
  git("config", "user.email", "test@example.com");
  commit();
  registry = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.writeHead(404).end();
  });
  registryPort = await listenLocally(registry);
});
afterAll(() => registry.close());

const OWNER_OF_URL = /(github\.com\/)[^/]+(\/)/g;
/** The packed files that link to the repository. */
const LINKED = [
  "receiver-kit/package.json",
  "receiver-kit/README.md",
  "feed/package.json",
  "feed/README.md",
  "feed/docs/other-languages.md",
];
/** The environment without the git configuration of the user and without the repository of a git hook. */
const { GIT_DIR: _, GIT_INDEX_FILE: __, ...machine } = process.env;
const env = { ...machine, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };
const git = (...args: string[]) => execFileSync("git", args, { cwd: folder, env, stdio: "pipe" });
function commit() {
  git("add", "--all");
  git("commit", "--quiet", "--message", "test");
}

/** Runs npm in the repository. Returns its status and both streams. */
async function npm(...args: readonly string[]) {
  const ofNpm = { npm_config_registry: `http://127.0.0.1:${registryPort}/` };
  const options = { cwd: folder, env: { ...env, ...ofNpm } };
  type Ended = { readonly stdout: string; readonly stderr: string; readonly code?: number };
  const run: Promise<Ended> = promisify(execFile)("npm", args, options);
  const { code = 0, stdout, stderr } = await run.catch((failed: Ended) => failed);
  return { code, said: stdout + stderr };
}
/** Releases as a user whose npm ignores scripts. The packages are built all the same. */
const release = () => npm("run", "--silent", "--ignore-scripts", "release", "--", "--tested");

function edit(file: string, change: (text: string) => string) {
  const path = join(folder, file);
  writeFileSync(path, change(readFileSync(path, "utf8")));
}

describe("npm run release", () => {
  it("names everything that is not ready at once, and builds nothing", async () => {
    edit("deploy/helm/personal-activity/Chart.yaml", (text) =>
      text.replace(/appVersion: .*/, "appVersion: 0.9.0"),
    );
    for (const file of LINKED) edit(file, (text) => text.replaceAll(OWNER_OF_URL, "$1OWNER$2"));
    edit("CHANGELOG.md", () => "# Changelog\n\n## [Unreleased]\n\n- A thing.\n");
    const { code, said } = await release();
    expect(code).toBe(1);
    for (const sentence of [
      "Chart.yaml says 0.9.0, package.json 1.",
      'CHANGELOG.md has no entries under "## [1.',
      'CHANGELOG.md has entries under "## [Unreleased]"',
      "receiver-kit/package.json says OWNER in homepage, bugs, repository: write the owner of the GitHub repository.",
      "receiver-kit/README.md says OWNER: write the owner of the GitHub repository.",
      "feed/docs/other-languages.md says OWNER: write the owner of the GitHub repository.",
      "What is not committed is not released:\n M CHANGELOG.md\n M deploy",
    ]) {
      expect(said).toContain(sentence);
    }
    expect(readdirSync(folder)).not.toContain("dist");
    git("checkout", "--quiet", "--", "deploy");
  });

  it("after npm version, packs each package of that version and the bill of materials, and stops", async () => {
    edit("CHANGELOG.md", () => "# Changelog\n\n## [7.8.9] - 2026-11-22\n\n- A thing.\n");
    for (const file of LINKED) edit(file, (text) => text.replaceAll(OWNER_OF_URL, "$1someone$2"));
    commit();
    expect(await npm("version", "7.8.9")).toMatchObject({ code: 0 });
    const { code, said } = await release();
    const packages = ["receiver-kit", "activity-feed", "activity-client"].map(
      (name) => `${name}-7.8.9.tgz`,
    );
    const publish = packages.map((file) => `  npm publish dist/release/${file}\n`).join("");
    const push = "  git push origin HEAD v7.8.9\n";
    expect(said).toContain(`Nothing was published. To publish:\n\n${push}${publish}`);
    expect(code).toBe(0);
    const made = join(folder, "dist/release");
    const bill = "personal-activity-7.8.9.cdx.json";
    expect(readdirSync(made).toSorted()).toEqual([...packages, bill].toSorted());
    const sbom = JSON.parse(readFileSync(join(made, bill), "utf8"));
    expect(sbom.metadata.component.version).toBe("7.8.9");
    for (const file of packages) {
      const print = ["-xzOf", join(made, file), "package/package.json"];
      const { name, publishConfig } = JSON.parse(execFileSync("tar", print, { encoding: "utf8" }));
      // Without `public`, npm publishes a scoped package as restricted, which the registry refuses.
      expect(publishConfig?.access).toBe(name.startsWith("@") ? "public" : undefined);
    }
    const list = ["-tzf", join(made, "activity-client-7.8.9.tgz")];
    const files = execFileSync("tar", list, { encoding: "utf8" }).split("\n");
    const packed = ["LICENSE", "README.md", "errors.md", "dist/client.d.ts"];
    expect(files).toEqual(expect.arrayContaining(packed.map((name) => `package/${name}`)));
    expect(files.filter((name) => /(?<!\.d)\.ts$|dispatch|admission/.test(name))).toEqual([]);
    expect(asked.filter((each) => !each.startsWith("GET "))).toEqual([]);
  });

  it("refuses to release another commit under the same version", async () => {
    edit("README.md", (text) => `${text}\n`);
    commit();
    const { code, said } = await release();
    expect(said).toBe("The tag v7.8.9 is of another commit: run `npm version` for the next one.\n");
    expect(code).toBe(1);
  });
});
