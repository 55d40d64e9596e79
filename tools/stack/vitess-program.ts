import { mkdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { waitForLock } from "./file-lock.ts";
import { findProgram } from "./find-program.ts";
import type { Progress } from "./progress.ts";
import { runCommand } from "./run-command.ts";
import { StackError } from "./stack-error.ts";

/** Vitess 24, as its Go module; the hash is that of the module's files, and its go.sum has those of all it needs. */
const MODULE = "vitess.io/vitess@v0.24.1";
const MODULE_HASH = "h1:4kaD5sTMGFkchkd4jYkbPGqMCMo0T/vzBOGo0KwIXrg=";
const PROGRAM = "vtcombo";
const OLDEST_GO = [1, 26] as const;

/**
 * Returns the path of `vtcombo`, Vitess's vtgate and vttablets in one program. Go builds it once a machine: no registry
 * has it built.
 */
export async function buildVtcombo(
  env: NodeJS.ProcessEnv,
  cacheDir: string,
  progress: Progress,
): Promise<string> {
  const path = join(cacheDir, `vitess-v0.24.1-${process.arch}`, PROGRAM);
  if (await isBuilt(path)) return path;
  const go = await findGo(env);
  await mkdir(cacheDir, { recursive: true });
  const lock = await waitForLock(`${dirname(path)}.lock`, () => undefined);
  try {
    if (await isBuilt(path)) return path;
    await progress.step("Building Vitess (some minutes, once)", async (report) => {
      report("fetching its module");
      const sources = await fetchModule(go);
      report("compiling");
      await build(go, sources, path);
    });
    return path;
  } finally {
    lock.release();
  }
}

async function isBuilt(path: string): Promise<boolean> {
  return (await findProgram({ PATH: dirname(path) }, [PROGRAM])) === path;
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
async function build(go: string, sources: string, path: string): Promise<void> {
  const fresh = `${dirname(path)}.new`;
  await rm(fresh, { recursive: true, force: true });
  const { status, lines } = await runCommand(go, [
    ...["build", "-C", sources, "-mod=readonly", "-buildvcs=false", "-ldflags=-s -w"],
    ...["-o", join(fresh, PROGRAM), `./go/cmd/${PROGRAM}`],
  ]);
  if (status !== 0) throw cannotBuild("built", lines);
  await rm(dirname(path), { recursive: true, force: true });
  await rename(fresh, dirname(path));
}

function cannotBuild(done: "fetched" | "built", lines: readonly string[]): StackError {
  const why = lines.findLast((line) => line.trim() !== "") ?? "Go gives no reason";
  return new StackError(`Vitess could not be ${done} (${MODULE}): ${why}.`);
}
