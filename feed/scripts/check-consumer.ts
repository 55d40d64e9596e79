import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { installProject, runQuietly } from "../../receiver-kit/scripts/pack.ts";

const require = createRequire(import.meta.url);
const SOURCE = resolve(import.meta.dirname, "../test/consumer/overlay.ts");
const TSC = join(dirname(require.resolve("typescript/package.json")), "bin/tsc");

/** Compiles a user's program against the packed package and its declarations, in both module systems. */
export function checkConsumer(tarball: string, folder: string): void {
  const { version }: { version: string } = require("@types/node/package.json");
  for (const type of ["module", "commonjs"] as const) {
    const project = join(folder, type);
    mkdirSync(project);
    installProject(project, [tarball, `@types/node@${version}`]);
    writeFileSync(join(project, "package.json"), JSON.stringify({ type }));
    copyFileSync(SOURCE, join(project, "overlay.ts"));
    const options = ["--noEmit", "--strict", "--exactOptionalPropertyTypes", "--types", "node"];
    const modules = ["--module", "nodenext", "--target", "es2022", "--lib", "es2022"];
    runQuietly(process.execPath, [TSC, ...options, ...modules, "overlay.ts"], project);
    console.log(`types: a program compiles as ${type}, declarations checked`);
  }
}
