import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { TSC } from "../../tools/release/published.ts";
import { installProject, runQuietly } from "./install-project.ts";

const require = createRequire(import.meta.url);

/** Checks the manifest and the declarations of a packed package, with the tools of the package in `cwd`. */
export function lintPackage(tarball: string, cwd: string): void {
  const run = (...command: readonly string[]) =>
    execFileSync("npx", ["--no-install", ...command], { cwd, stdio: "inherit" });
  run("publint", "run", "--strict", tarball);
  run("attw", tarball, "--format", "table-flipped");
}

/** Compiles a user's program against packed packages and their declarations, in both module systems. */
export function compileConsumer(source: string, packages: string[], folder: string): void {
  const name = path.basename(source);
  for (const type of ["module", "commonjs"] as const) {
    const project = path.join(folder, type);
    mkdirSync(project);
    installProject(project, packages);
    writeFileSync(path.join(project, "package.json"), JSON.stringify({ type }));
    copyFileSync(source, path.join(project, name));
    const options = ["--noEmit", "--strict", "--exactOptionalPropertyTypes", "--types", "node"];
    const modules = ["--module", "nodenext", "--target", "es2022", "--lib", "es2022"];
    runQuietly(process.execPath, [TSC, ...options, ...modules, name], project);
    console.log(`types: ${name} compiles as ${type}, declarations checked`);
  }
}

/** Returns a package's name with the version that this repository uses. */
export function pinned(name: string): string {
  const { version }: { version: string } = require(`${name}/package.json`);
  return `${name}@${version}`;
}
