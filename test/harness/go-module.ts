import { join } from "node:path";
import { cacheFolder } from "../../dev-stack/src/cache-folder.ts";
import { findProgram } from "../../dev-stack/src/find-program.ts";
import { makeFolderOnce } from "../../dev-stack/src/make-folder-once.ts";
import { runCommand } from "../../dev-stack/src/run-command.ts";
import { StackError } from "../../dev-stack/src/stack-error.ts";
import type { StackOptions } from "../../dev-stack/src/stack-options.ts";

/**
 * A Go module whose programs no registry offers as binaries. Its hash is pinned; its go.sum pins what it depends on.
 */
interface GoModule {
  title: string;
  /** `path@version`. */
  module: string;
  /** The module's hash, as go.sum states it. */
  sum: string;
  /** The module's folders with the main packages. The programs get their names. */
  packages: readonly string[];
  /** The name of the folder in the cache, without the processor's architecture. */
  folder: string;
}

/** Builds a Go module's programs, once per machine. Returns their folder. */
export function buildGoModule(
  { title, module, sum, packages, folder }: GoModule,
  { env, progress }: StackOptions,
): Promise<string> {
  const fail = (why: string) =>
    new StackError(
      `${title} could not be built (${module}): ${why}. It needs Go 1.26.8 or later, and the Go modules that it is made of.`,
    );
  const at = join(cacheFolder(env), `${folder}-${process.arch}`);
  return makeFolderOnce(at, `Building ${title} (some minutes, once)`, progress, async (fresh) => {
    const go = await findProgram(env, ["go"]);
    if (go === undefined) throw fail("no go was found on PATH");
    // No go.mod or go.work applies in this folder.
    const { lines } = await runCommand(go, ["-C", fresh, "mod", "download", "-json", module]);
    const answer = lines.slice(lines.indexOf("{"), lines.lastIndexOf("}") + 1).join("\n");
    if (answer === "") throw fail(`go says: ${lines.at(-1)}`);
    const { Dir, Sum, Error: error }: Record<string, string | undefined> = JSON.parse(answer);
    if (Dir === undefined) throw fail(`go says: ${error}`);
    if (Sum !== sum) throw fail("the downloaded module has another hash");
    const flags = ["-mod=readonly", "-buildvcs=false", "-trimpath", "-ldflags=-s -w"];
    const args = ["-C", Dir, "build", ...flags, "-o", `${fresh}/`, ...packages];
    const built = await runCommand(go, args, { variables: { GOWORK: "off" } });
    if (built.status !== 0) throw fail(`go says: ${built.lines.slice(-3).join("; ")}`);
  });
}
