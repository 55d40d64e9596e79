import { join } from "node:path";
import { runCommand } from "./run-command.ts";
import { StackError } from "./stack-error.ts";
import { type Launch, launchFromRoot, type UnpackedRoot } from "./unpacked-root.ts";

export type ServerFlavour = "mysql" | "mariadb";

/** A database server program that can be run on this machine. */
export interface ServerProgram extends Launch {
  flavour: ServerFlavour;
  /** Three numbers, for example "10.11.19". */
  version: string;
  /** Options that tell the program where its own files lie. */
  placement: readonly string[];
}

/** What people call each flavour. */
export const FLAVOUR_NAMES = { mysql: "MySQL", mariadb: "MariaDB" } satisfies Record<
  ServerFlavour,
  string
>;

/** Asks a server program what it is; throws when it does not run or is no database server. */
export async function inspectServerProgram(
  path: string,
  launch: Launch,
  placement: readonly string[] = [],
): Promise<ServerProgram> {
  const args = [...launch.leading, "--no-defaults", "--version"];
  const { status, lines } = await runCommand(launch.command, args);
  const found = status === 0 ? parseServerVersion(lines.join("\n")) : undefined;
  if (found) return { ...launch, ...found, placement };
  const cause = lines.find((line) => line.trim() !== "") ?? "it says nothing";
  throw new StackError(
    `${path} is not a database server that runs here (${cause}): set MYSQLD to a mysqld or mariadbd program, or unset it.`,
  );
}

/** Describes the server program inside an unpacked distribution package. */
export async function inspectUnpackedServer(root: UnpackedRoot): Promise<ServerProgram> {
  const program = "usr/sbin/mysqld";
  const share = join(root.folder, "usr/share/mysql");
  return inspectServerProgram(join(root.folder, program), launchFromRoot(root, program), [
    `--basedir=${join(root.folder, "usr")}`,
    `--lc-messages-dir=${share}`,
    `--character-sets-dir=${join(share, "charsets")}`,
  ]);
}

/** Reads what `mysqld --version` printed, for example "mysqld  Ver 9.7.0 for Linux on x86_64". */
export function parseServerVersion(
  text: string,
): { flavour: ServerFlavour; version: string } | undefined {
  const [, version, suffix = ""] = /\bVer (\d+\.\d+\.\d+)(\S*)/.exec(text) ?? [];
  if (version === undefined) return undefined;
  return { flavour: /mariadb/i.test(suffix) ? "mariadb" : "mysql", version };
}
