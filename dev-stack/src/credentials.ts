import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { parseObject } from "./parse-object.ts";

/** The name of the application's database and, on the server, of its user. */
export const DATABASE_NAME = "personal_activity";

/** The passwords of a data folder's two database users. */
export interface Credentials {
  user: string;
  password: string;
  /** Of root, who can only come in through the socket. */
  rootPassword: string;
}

/** Reads a data folder's passwords; makes new ones when the file is missing or damaged. */
export async function readCredentials(path: string): Promise<Credentials> {
  const stored = parseObject<Credentials>(await readFile(path, "utf8").catch(() => ""));
  const [user, password, rootPassword] = [stored.user, stored.password, stored.rootPassword].map(
    (word) => (/^\w+$/.test(word ?? "") ? word : undefined),
  );
  if (user && password && rootPassword) return { user, password, rootPassword };
  // The server is told the new ones when it starts.
  const made = { user: DATABASE_NAME, password: newPassword(), rootPassword: newPassword() };
  await writeFile(path, `${JSON.stringify(made)}\n`, { mode: 0o600 });
  return made;
}

const newPassword = () => randomBytes(20).toString("hex");

/**
 * Returns the statements a server runs at each start: they create database and user, or give the
 * user the stored password again. One statement a line, as `--init-file` wants it.
 */
export function initStatements(credentials: Credentials, isEphemeral: boolean): string {
  const account = `'${credentials.user}'@'127.0.0.1'`;
  // Tests make databases by the dozen and read the server's counters.
  const scope = isEphemeral ? "*.*" : `\`${DATABASE_NAME.replaceAll("_", "\\_")}%\`.*`;
  return [
    `ALTER USER 'root'@'localhost' IDENTIFIED BY '${credentials.rootPassword}';`,
    `CREATE DATABASE IF NOT EXISTS \`${DATABASE_NAME}\` CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;`,
    `CREATE USER IF NOT EXISTS ${account} IDENTIFIED BY '${credentials.password}';`,
    `ALTER USER ${account} IDENTIFIED BY '${credentials.password}';`,
    `GRANT ALL PRIVILEGES ON ${scope} TO ${account}${isEphemeral ? " WITH GRANT OPTION" : ""};`,
    "",
  ].join("\n");
}
