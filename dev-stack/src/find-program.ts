import { access, constants, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join, resolve } from "node:path";

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
  for (const path of folders.flatMap((folder) => names.map((name) => join(folder, name)))) {
    if (await isExecutable(path)) return path;
  }
  return undefined;
}

/** Finds the program that a variable names, by its path or by its name on PATH. */
export async function findNamedProgram(
  env: NodeJS.ProcessEnv,
  name: string,
): Promise<string | undefined> {
  const path = resolve(name);
  return (await isExecutable(path)) ? path : findProgram(env, [name]);
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
