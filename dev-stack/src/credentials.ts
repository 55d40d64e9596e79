import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { parseObject } from "./parse-object.ts";

/** The name of the application's database and of its user. */
export const DATABASE_NAME = "personal_activity";

/** The passwords of the two database users of a data folder. */
export interface Credentials {
  user: string;
  password: string;
  /** The password of root, who can only use the socket. */
  rootPassword: string;
}

/** Reads the passwords of a data folder. Creates new ones if the file is missing or damaged. */
export async function readCredentials(path: string): Promise<Credentials> {
  const stored = parseObject<Credentials>(await readFile(path, "utf8").catch(() => ""));
  const [user, password, rootPassword] = [stored.user, stored.password, stored.rootPassword].map(
    (word) => (/^\w+$/.test(word ?? "") ? word : undefined),
  );
  if (user && password && rootPassword) return { user, password, rootPassword };
  // The server gets the new passwords at its start.
  const made = { user: DATABASE_NAME, password: newPassword(), rootPassword: newPassword() };
  await writeFile(path, `${JSON.stringify(made)}\n`, { mode: 0o600 });
  return made;
}

const newPassword = () => randomBytes(20).toString("hex");

/**
 * Returns the statements that a server runs at each start, one per line as `--init-file` requires. They create
 * database and user, or reset the user's password to the stored one.
 */
export function initStatements(credentials: Credentials, isEphemeral: boolean): string {
  const account = `'${credentials.user}'@'127.0.0.1'`;
  // Tests need every right, because they create many databases and read the server's counters.
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
