import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { waitForLock } from "./file-lock.ts";
import { findProgram } from "./find-program.ts";
import type { Progress } from "./progress.ts";
import { runCommand } from "./run-command.ts";
import { StackError } from "./stack-error.ts";

/** Vitess 24, as its Go module; the hash is that of the module's files, and its go.sum has those of all it needs. */
const MODULE = "vitess.io/vitess@v0.24.1";
const MODULE_HASH = "h1:4kaD5sTMGFkchkd4jYkbPGqMCMo0T/vzBOGo0KwIXrg=";
const OLDEST_GO = [1, 26] as const;

/** Programs of Vitess that are built together, and the folder of the cache that has them. */
export interface VitessPrograms {
  folder: string;
  names: readonly string[];
}

/** `vtcombo`: vtgate and vttablets in one program. */
export const VITESS_IN_ONE: VitessPrograms = { folder: "vitess", names: ["vtcombo"] };

/** What a cluster consists of, and what it is told what to do by. */
export const VITESS_APART: VitessPrograms = {
  folder: "vitess-cluster",
  names: ["vtctld", "vtctldclient", "vtgate", "vttablet"],
};

/** Returns the folder that has the programs. Go builds them once a machine: no registry has them built. */
export async function buildVitess(
  programs: VitessPrograms,
  env: NodeJS.ProcessEnv,
  cacheDir: string,
  progress: Progress,
): Promise<string> {
  const { names } = programs;
  const folder = join(cacheDir, `${programs.folder}-v0.24.1-${process.arch}`);
  if (await areBuilt(folder, names)) return folder;
  const go = await findGo(env);
  await mkdir(cacheDir, { recursive: true });
  const lock = await waitForLock(`${folder}.lock`, () => undefined);
  try {
    if (await areBuilt(folder, names)) return folder;
    await progress.step("Building Vitess (some minutes, once)", async (report) => {
      report("fetching its module");
      const sources = await fetchModule(go);
      report("compiling");
      await build(go, sources, folder, names);
    });
    return folder;
  } finally {
    lock.release();
  }
}

async function areBuilt(folder: string, names: readonly string[]): Promise<boolean> {
  const found = names.map((name) => findProgram({ PATH: folder }, [name]));
  return (await Promise.all(found)).every(
    (path, index) => path === join(folder, names[index] ?? ""),
  );
}

async function findGo(env: NodeJS.ProcessEnv): Promise<string> {
  const go = await findProgram(env, ["go"]);
  const wanted = `Vitess is built with Go ${OLDEST_GO.join(".")} or later`;
  if (go === undefined) throw new StackError(`${wanted}: install it so that go is on PATH.`);
  const { lines } = await runCommand(go, ["env", "GOVERSION"]);
  const [, major = 0, minor = 0] = (/^go(\d+)\.(\d+)/.exec(lines[0] ?? "") ?? []).map(Number);
  if (major > OLDEST_GO[0] || (major === OLDEST_GO[0] && minor >= OLDEST_GO[1])) return go;
  throw new StackError(
    `${wanted}, and ${go} is ${lines[0] ?? "none that runs"}: install a later one.`,
  );
}

/** Has Go fetch the module, and returns the folder of its files. */
async function fetchModule(go: string): Promise<string> {
  const { status, lines } = await runCommand(go, ["mod", "download", "-json", MODULE]);
  const said = lines.join("\n");
  if (status !== 0) throw cannotBuild("fetched", lines);
  // Go may say other things before it.
  const { Dir, Sum }: { Dir: string; Sum: string } = JSON.parse(said.slice(said.indexOf("{")));
  if (Sum === MODULE_HASH) return Dir;
  throw new StackError(
    `Vitess could not be fetched (${MODULE}): what came is not what this project pins by its hash.`,
  );
}

/** Builds in the module's own folder, where its go.mod says which version of each package it takes. */
async function build(
  go: string,
  sources: string,
  folder: string,
  names: readonly string[],
): Promise<void> {
  const fresh = `${folder}.new`;
  await rm(fresh, { recursive: true, force: true });
  const { status, lines } = await runCommand(go, [
    ...["build", "-C", sources, "-mod=readonly", "-buildvcs=false", "-ldflags=-s -w"],
    ...["-o", `${fresh}/`, ...names.map((name) => `./go/cmd/${name}`)],
  ]);
  if (status !== 0) throw cannotBuild("built", lines);
  await rm(folder, { recursive: true, force: true });
  await rename(fresh, folder);
}

function cannotBuild(done: "fetched" | "built", lines: readonly string[]): StackError {
  const why = lines.findLast((line) => line.trim() !== "") ?? "Go gives no reason";
  return new StackError(`Vitess could not be ${done} (${MODULE}): ${why}.`);
}
