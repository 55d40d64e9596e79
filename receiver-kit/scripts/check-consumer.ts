import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { installProject, runQuietly } from "./pack.ts";

const require = createRequire(import.meta.url);
const SOURCE = path.resolve(import.meta.dirname, "../test/consumer/receiver.ts");
const TSC = path.join(path.dirname(require.resolve("typescript/package.json")), "bin/tsc");

/** Compiles a receiver against the packed kit and its declarations, in both module systems. */
export function checkConsumer(tarball: string, folder: string): void {
  for (const type of ["module", "commonjs"] as const) {
    const project = path.join(folder, type);
    mkdirSync(project);
    installProject(project, [tarball, ...["@types/node", "@types/pg", "pg"].map(pinned)]);
    writeFileSync(path.join(project, "package.json"), JSON.stringify({ type }));
    copyFileSync(SOURCE, path.join(project, "receiver.ts"));
    const options = ["--noEmit", "--strict", "--exactOptionalPropertyTypes", "--types", "node"];
    const modules = ["--module", "nodenext", "--target", "es2022", "--lib", "es2022"];
    runQuietly(process.execPath, [TSC, ...options, ...modules, "receiver.ts"], project);
    console.log(`types: a receiver compiles as ${type}, declarations checked`);
  }
}

/** Returns a package's name with the version that the kit is tested with. */
function pinned(name: string): string {
  const { version }: { version: string } = require(`${name}/package.json`);
  return `${name}@${version}`;
}
