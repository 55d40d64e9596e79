import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { runQuietly } from "../../receiver-kit/scripts/install-project.ts";
import { packPackage } from "../../tools/release/published.ts";
import { createRecord, KEY, refuse, startTestApi } from "../src/testing/test-api.ts";

const CHECKS = resolve(import.meta.dirname, "../test/runtimes");
const NODE_VERSIONS = ["20.20.2", "22.23.3", "24.21.0", "26.10.0"];
const DENO = "2.9.6";
const BUN = "1.4.5";
const WORKERD = { miniflare: "4.20260730.0", esbuild: "0.28.2" };
const RECORDS = 7;

const folder = mkdtempSync(join(tmpdir(), "activity-feed-runtimes-"));
const api = await startTestApi();
for (let number = 1; number <= RECORDS; number += 1) api.store(createRecord(number));
api.refuse = ({ headers }) =>
  headers.authorization === `Bearer ${KEY}` ? undefined : refuse(401, "invalid_api_key");
try {
  const tarball = packPackage("feed", folder);
  for (const version of NODE_VERSIONS) {
    const project = createProject(`node-${version}`, tarball, { node: version });
    const node = join(project, "node_modules/node/bin/node");
    await report(`node ${version}`, "ES module", [node, "esm.mjs"], project);
    await report(`node ${version}`, "CommonJS", [node, "commonjs.cjs"], project);
  }
  const deno = createProject("deno", tarball, { deno: DENO });
  const denoRun = [bin(deno, "deno"), "run", "--allow-all", "--no-lock"];
  await report(`deno ${DENO}`, "ES module", [...denoRun, "esm.mjs"], deno);
  const bun = createProject("bun", tarball, { bun: BUN });
  await report(`bun ${BUN}`, "ES module", [bin(bun, "bun"), "esm.mjs"], bun);
  await report(`bun ${BUN}`, "CommonJS", [bin(bun, "bun"), "commonjs.cjs"], bun);
  const workerd = createProject("workerd", tarball, WORKERD);
  await report("workerd", "worker", [process.execPath, "workerd.mjs"], workerd);
} finally {
  await api.close();
  rmSync(folder, { recursive: true });
}

/** Creates an empty project with the packed client and `packages` installed. */
function createProject(name: string, tarball: string, packages: Record<string, string>): string {
  const project = join(folder, name);
  cpSync(CHECKS, project, { recursive: true });
  const manifest = {
    ...{ name: "empty-project", private: true },
    dependencies: { "@activity/feed": `file:${tarball}`, ...packages },
    allowScripts: { node: true, deno: true, bun: true, esbuild: true, workerd: true },
  };
  writeFileSync(join(project, "package.json"), JSON.stringify(manifest));
  runQuietly("npm", ["install", "--no-audit", "--no-fund", "--engine-strict=false"], project);
  return project;
}

function bin(project: string, name: string): string {
  return join(project, "node_modules/.bin", name);
}

/** Runs a check against the API, which this process serves. */
async function report(runtime: string, kind: string, command: readonly string[], project: string) {
  const [program = "", ...args] = command;
  const env = { ...process.env, API_URL: api.baseUrl, API_KEY: KEY };
  const { stdout } = await promisify(execFile)(program, args, { cwd: project, env });
  console.log(`✓ ${runtime.padEnd(14)} ${kind.padEnd(10)} ${stdout.trim()}`);
}
