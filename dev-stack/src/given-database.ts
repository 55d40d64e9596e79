import { readServerVersion } from "./server-greeting.ts";
import { StackError } from "./stack-error.ts";

const DEFAULT_PORT = 3306;

/** Checks that a database server answers at `DATABASE_URL`. Returns its version. */
export async function checkGivenDatabase(text: string): Promise<string> {
  const { host, port } = parseDatabaseUrl(text);
  try {
    return await readServerVersion(host, port);
  } catch (error) {
    throw new StackError(
      `DATABASE_URL points at ${host}:${port}, where no database answers (${(error as Error).message}): start that server or let it accept this machine, correct the URL, or unset it.`,
    );
  }
}

/** Parses a database URL. Throws one sentence, without the password, if it is invalid. */
function parseDatabaseUrl(text: string): { host: string; port: number } {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isRight = /^(mysql|mariadb):$/.test(url?.protocol ?? "") && url?.username && url.hostname;
  // A vtgate chooses the keyspace itself.
  if (isRight && /^(\/[^/]*)?$/.test(url.pathname)) {
    return {
      host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
      port: Number(url.port) || DEFAULT_PORT,
    };
  }
  throw new StackError(
    "DATABASE_URL must look like mysql://user:password@host:3306/database (a vtgate needs no database): correct it, or unset it to have a database started here.",
  );
}
