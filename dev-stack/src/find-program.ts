import { access, constants, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import { StackError } from "./stack-error.ts";

/** The folders of server programs that are not on an ordinary user's PATH. */
const SERVER_FOLDERS = [
  ...["/usr/local/sbin", "/usr/sbin", "/usr/libexec", "/usr/local/mysql/bin", "/opt/homebrew/bin"],
  ...["/opt/homebrew/opt/mysql/bin", "/opt/homebrew/opt/mariadb/bin"],
];

/** Finds the first of the named programs on PATH or in the usual folders of servers. */
export async function findProgram(
  env: NodeJS.ProcessEnv,
  names: readonly string[],
): Promise<string | undefined> {
  const folders = [...(env.PATH ?? "").split(delimiter), ...SERVER_FOLDERS].filter(isAbsolute);
  const suffix = process.platform === "win32" ? ".exe" : "";
  const files = names.map((name) => (name.endsWith(suffix) ? name : `${name}${suffix}`));
  for (const path of folders.flatMap((folder) => files.map((file) => join(folder, file)))) {
    if (await isExecutable(path)) return path;
  }
  return undefined;
}

/** A variable that may name a program, by its path or by its name on PATH, with its value. */
export type GivenProgram = Readonly<Record<string, string | undefined>>;

/** Finds the program that a variable names, or one on the machine. Throws if the variable names no program. */
export async function findInstalled(
  env: NodeJS.ProcessEnv,
  given: GivenProgram,
  names: readonly string[],
): Promise<string | undefined> {
  const [[variable, named] = []] = Object.entries(given);
  if (!named) return findProgram(env, names);
  const path = resolve(named);
  const found = (await isExecutable(path)) ? path : await findProgram(env, [named]);
  if (found !== undefined) return found;
  throw new StackError(
    `${variable} names ${named}, which is not a program: set it to the path of a ${names.join(" or ")} program, or unset it.`,
  );
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
