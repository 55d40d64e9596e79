import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { packPackage } from "../../tools/release/published.ts";
import { runQuietly } from "./install-project.ts";

// This script runs the core and the command line from the tarball. The test ../../test/delivery/packed-kit.test.ts also
// runs the Express adapter and the SQLite store from it. The test ../test/docs/readme.test.ts runs the other adapters
// and stores from `dist`.

const CHECKS = path.resolve(import.meta.dirname, "../test/runtimes");
const require = createRequire(import.meta.url);
const { devDependencies } = require("../package.json") as {
  devDependencies: Record<string, string>;
};

/** The oldest version that `engines` allows, and the newest of each release line. */
const NODE_VERSIONS = ["18.17.0", "18.20.8", "20.20.2", "22.23.3", "24.21.0", "26.10.0"];
const DENO = "2.9.6";
const BUN = "1.4.5";
const MINIFLARE = "4.20260730.0";

interface Vector {
  readonly secret: string;
  readonly headers: Record<string, string>;
  readonly body_base64: string;
  readonly now_seconds: number;
}

const folder = mkdtempSync(path.join(tmpdir(), "receiver-kit-runtimes-"));
try {
  const tarball = packPackage("receiver-kit", folder);
  for (const version of NODE_VERSIONS) {
    const project = createProject(`node-${version}`, tarball, { node: version });
    const node = path.join(project, "node_modules/node/bin/node");
    report(runQuietly(node, ["--version"], project), "ES module", [node, "esm.mjs"], project);
    report(`v${version}`, "CommonJS", [node, "commonjs.cjs"], project);
    report(`v${version}`, "command line", [node, ...verifyCommand(project)], project);
  }
  const deno = createProject("deno", tarball, { deno: DENO });
  const denoRun = [bin(deno, "deno"), "run", "--allow-all", "--no-lock"];
  report(`deno ${DENO}`, "ES module", [...denoRun, "esm.mjs"], deno);
  const bun = createProject("bun", tarball, { bun: BUN });
  report(`bun ${BUN}`, "ES module", [bin(bun, "bun"), "esm.mjs"], bun);
  report(`bun ${BUN}`, "CommonJS", [bin(bun, "bun"), "commonjs.cjs"], bun);
  const tools = { miniflare: MINIFLARE, esbuild: devDependencies.esbuild ?? "" };
  const workerd = createProject("workerd", tarball, tools);
  report(`workerd (miniflare ${MINIFLARE})`, "worker", [process.execPath, "workerd.mjs"], workerd);
} finally {
  rmSync(folder, { recursive: true });
}

/** Creates an empty project with the packed kit and `packages` installed. */
function createProject(name: string, tarball: string, packages: Record<string, string>): string {
  const project = path.join(folder, name);
  cpSync(CHECKS, project, { recursive: true });
  const manifest = {
    name: "empty-project",
    private: true,
    dependencies: { "receiver-kit": `file:${tarball}`, ...packages },
    allowScripts: { node: true, deno: true, bun: true, esbuild: true, workerd: true },
  };
  writeFileSync(path.join(project, "package.json"), JSON.stringify(manifest));
  runQuietly("npm", ["install", "--no-audit", "--no-fund", "--engine-strict=false"], project);
  return project;
}

function bin(project: string, name: string): string {
  return path.join(project, "node_modules/.bin", name);
}

/** Writes the first vector to files. Returns the arguments that verify it. */
function verifyCommand(project: string): string[] {
  const { vectors } = require("../vectors.json") as { vectors: readonly Vector[] };
  const [vector] = vectors;
  if (!vector) throw new Error("there are no vectors");
  writeFileSync(path.join(project, "headers.json"), JSON.stringify(vector.headers));
  writeFileSync(path.join(project, "body.bin"), Buffer.from(vector.body_base64, "base64"));
  const program = path.join(project, "node_modules/receiver-kit/dist/esm/cli/main.js");
  const files = ["--headers", "headers.json", "--body", "body.bin"];
  const rest = ["--at", String(vector.now_seconds), "--secret", vector.secret];
  return [program, "verify", ...files, ...rest];
}

function report(runtime: string, kind: string, command: readonly string[], project: string): void {
  const [program = "", ...args] = command;
  const [firstLine = ""] = runQuietly(program, args, project).split("\n");
  console.log(`✓ ${runtime.trim().padEnd(32)} ${kind.padEnd(14)} ${firstLine}`);
}
