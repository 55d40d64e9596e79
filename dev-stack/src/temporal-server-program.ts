import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { waitForLock } from "./file-lock.ts";
import { findProgram } from "./find-program.ts";
import type { Progress } from "./progress.ts";
import { runCommand } from "./run-command.ts";
import { StackError } from "./stack-error.ts";

/** Where the programs of Temporal's server lie. */
export interface TemporalServerPrograms {
  /** Runs one or more of the services. */
  server: string;
  /** Makes and changes the tables of an SQL database, whose schema it holds. */
  sqlTool: string;
}

const MODULE = "go.temporal.io/server@v1.32.1";
/** What go.sum would say of the module; the go.sum in it says the same of all that it needs. */
const SUM = "h1:grI5B5cBEMRJnDzGKtsxQRQpsNPisej1B6WgVksc9EM=";

/**
 * Builds Temporal's server as a cluster runs it, from its Go module, once a machine: three minutes and more. What
 * `temporal server start-dev` runs has no services apart and no MySQL.
 */
export async function findTemporalServer(
  env: NodeJS.ProcessEnv,
  cacheDir: string,
  progress: Progress,
): Promise<TemporalServerPrograms> {
  const name = MODULE.replaceAll(/[/@]/g, "-");
  const folder = join(cacheDir, `${name}-${process.platform}-${process.arch}`);
  // Named by go build after their folders.
  const programs = { server: join(folder, "server"), sqlTool: join(folder, "sql") };
  const isThere = async () => (await findProgram({ PATH: folder }, ["server"])) === programs.server;
  if (await isThere()) return programs;
  await mkdir(cacheDir, { recursive: true });
  const lock = await waitForLock(`${folder}.lock`, () => undefined);
  try {
    if (await isThere()) return programs;
    const go = await findProgram(env, ["go"]);
    if (go === undefined) throw cannotBuild("no go was found on PATH");
    await progress.step("Building Temporal's server", async () => {
      const fresh = `${folder}.new`;
      await rm(fresh, { recursive: true, force: true });
      await mkdir(fresh);
      await build(go, await fetchSources(go), fresh);
      await rm(folder, { recursive: true, force: true });
      await rename(fresh, folder);
    });
    return programs;
  } finally {
    lock.release();
  }
}

/** Fetches the module and returns the folder of its sources. */
async function fetchSources(go: string): Promise<string> {
  // Where nobody's go.mod or go.work counts.
  const nowhere = await mkdtemp(join(tmpdir(), "activity-go-"));
  const { status, lines } = await runCommand(go, [
    "-C",
    nowhere,
    "mod",
    "download",
    "-json",
    MODULE,
  ]);
  await rm(nowhere, { recursive: true });
  const answer = lines.slice(lines.indexOf("{"), lines.lastIndexOf("}") + 1).join("\n");
  if (answer === "") throw cannotBuild(`go says: ${lines.at(-1) ?? status}`);
  const { Dir, Sum, Error: error }: Record<string, string | undefined> = JSON.parse(answer);
  if (Dir === undefined) throw cannotBuild(`go says: ${error}`);
  if (Sum !== SUM) {
    throw cannotBuild("what came is not the module that this project pins by its hash");
  }
  return Dir;
}

/** Builds both programs into a folder; with the module's own go.sum, which pins all that is fetched. */
async function build(go: string, sources: string, folder: string): Promise<void> {
  const { status, lines } = await runCommand(
    go,
    [
      ...["-C", sources, "build", "-mod=readonly", "-buildvcs=false", "-trimpath"],
      ...["-ldflags=-s -w", "-o", `${folder}/`, "./cmd/server", "./cmd/tools/sql"],
    ],
    { variables: { GOWORK: "off" } },
  );
  if (status !== 0) throw cannotBuild(`go says: ${lines.slice(-3).join("; ")}`);
}

function cannotBuild(why: string): StackError {
  return new StackError(
    `Temporal's server could not be built (${MODULE}): ${why}. It needs Go 1.26.8 or later, and the Go modules that it is made of.`,
  );
}
