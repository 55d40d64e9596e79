import { readGreeting } from "./server-greeting.ts";
import { StackError } from "./stack-error.ts";

const DEFAULT_PORT = 3306;
const ANSWER_MILLISECONDS = 10_000;
const EXAMPLE = "mysql://user:password@host:3306/database";

/** Checks that a database server answers at `DATABASE_URL`; returns the version it names. */
export async function checkGivenDatabase(text: string): Promise<string> {
  const { host, port } = parseDatabaseUrl(text);
  const greeting = await readGreeting(host, port, ANSWER_MILLISECONDS);
  const place = `${host}:${port}`;
  switch (greeting.kind) {
    case "server":
      return greeting.version;
    case "refused":
      throw new StackError(
        `DATABASE_URL is refused by the server at ${place} (${greeting.message}): let it accept this machine, or unset DATABASE_URL.`,
      );
    case "unreachable":
      throw new StackError(
        `DATABASE_URL points at ${place}, where nothing answers (${greeting.cause}): start that server, correct the URL, or unset it.`,
      );
    case "other":
      throw new StackError(
        `DATABASE_URL points at ${place}, where something answers that is not MySQL or MariaDB: correct the URL, or unset it.`,
      );
  }
}

/** Parses a database URL; throws one sentence, without the password, when it is not one. */
export function parseDatabaseUrl(text: string): { host: string; port: number } {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isRight =
    url !== undefined &&
    /^(mysql|mariadb):$/.test(url.protocol) &&
    url.hostname !== "" &&
    url.username !== "" &&
    /^\/[^/]+$/.test(url.pathname);
  if (isRight) {
    const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
    return { host, port: url.port === "" ? DEFAULT_PORT : Number(url.port) };
  }
  throw new StackError(
    `DATABASE_URL must look like ${EXAMPLE}, with a user and a database: correct it, or unset it to have a database started here.`,
  );
}
