import { messageOf } from "@activity/runtime/error-message";
import { readServerVersion } from "./server-greeting.ts";
import { StackError } from "./stack-error.ts";

const DEFAULT_PORT = 3306;

/** Checks that a database server answers at the URL of a variable. Returns its version. */
export async function checkGivenDatabase(text: string, variable: string): Promise<string> {
  const { host, port } = parseDatabaseUrl(text, variable);
  try {
    return await readServerVersion(host, port);
  } catch (error) {
    throw new StackError(
      `${variable} points at ${host}:${port}, where no database answers (${messageOf(error)}): start that server or let it accept this machine, correct the URL, or unset it.`,
    );
  }
}

/** Parses a database URL. Throws one sentence, without the password, if it is invalid. */
function parseDatabaseUrl(text: string, variable: string): { host: string; port: number } {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isRight = /^(mysql|mariadb):$/.test(url?.protocol ?? "") && url?.username && url.hostname;
  // The URL of a vtgate needs no database: a vtgate chooses the keyspace itself.
  if (isRight && /^(\/[^/]*)?$/.test(url.pathname)) {
    return {
      host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
      port: Number(url.port) || DEFAULT_PORT,
    };
  }
  throw new StackError(
    `The URL in ${variable} must look like mysql://user:password@host:3306/database (a vtgate needs no database), with /, ? and # in user and password percent-encoded: correct it, or unset ${variable} to have a database started here.`,
  );
}
