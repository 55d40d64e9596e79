import { parseArgs } from "node:util";
import {
  administerServiceCredentials,
  type CredentialAdministration,
  DomainError,
  PERMISSION_NAMES,
  parsePermissions,
} from "@activity/server";

const USAGE = `Keeps the credentials of internal services, in the database that DATABASE_URL names.

  node tools/service-credential.ts create --name NAME --permission PERMISSION [--permission …]
  node tools/service-credential.ts list
  node tools/service-credential.ts revoke ID

Permissions: ${PERMISSION_NAMES.join(", ")}`;

const NAME_MAX = 100;

/** The command line makes no sense; the message says what does. */
class UsageError extends Error {
  override readonly name = "UsageError";
}

type Command = (administration: CredentialAdministration) => Promise<void>;

try {
  const command = parseCommand(process.argv.slice(2));
  await run(command, databaseUrl());
} catch (error) {
  process.exitCode = 1;
  process.stderr.write(`${sentenceOf(error)}\n`);
}

function parseCommand(args: string[]): Command {
  const [verb, ...rest] = args;
  switch (verb) {
    case "create": {
      const { values } = parseArgs({
        args: rest,
        options: {
          name: { type: "string" },
          permission: { type: "string", multiple: true, default: [] },
        },
      });
      const name = parseName(values.name);
      const permissions = parsePermissions(values.permission);
      return async (administration) => {
        const { id, secret } = await administration.create(name, permissions);
        process.stderr.write(`Created ${id}. Its text is shown this once:\n`);
        process.stdout.write(`${secret}\n`);
      };
    }
    case "list":
      parseArgs({ args: rest, options: {} });
      return list;
    case "revoke": {
      const { positionals } = parseArgs({ args: rest, options: {}, allowPositionals: true });
      const [id] = positionals;
      if (id === undefined || positionals.length > 1) throw new UsageError("revoke takes one ID.");
      return (administration) => revoke(administration, id);
    }
    default:
      throw new UsageError("Say what to do: create, list or revoke.");
  }
}

function parseName(name = ""): string {
  const characters = [...name].length;
  if (characters >= 1 && characters <= NAME_MAX && name.isWellFormed()) return name;
  throw new UsageError(`--name takes 1 to ${NAME_MAX} characters.`);
}

function databaseUrl(): string {
  const url = process.env.DATABASE_URL;
  if (url !== undefined && URL.canParse(url)) return url;
  throw new UsageError("Set DATABASE_URL to mysql://user:password@host:port/name.");
}

async function run(command: Command, url: string): Promise<void> {
  const administration = administerServiceCredentials(url);
  try {
    await command(administration);
  } finally {
    await administration.close();
  }
}

async function list(administration: CredentialAdministration): Promise<void> {
  for (const { id, name, permissions, revoked } of await administration.list()) {
    const state = revoked ? "revoked" : "active";
    process.stdout.write(`${id}  ${state.padEnd(7)}  ${name}  ${[...permissions].join(" ")}\n`);
  }
}

async function revoke(administration: CredentialAdministration, id: string): Promise<void> {
  if (!(await administration.revoke(id))) {
    throw new UsageError("There is no service credential with this ID; `list` shows them all.");
  }
  process.stderr.write(`Revoked ${id}: it is refused within seconds.\n`);
}

/** Says what to do next; the command line is only explained to who got it wrong. */
function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = "code" in error ? String(error.code) : "";
  if (code === "ER_NO_SUCH_TABLE") {
    return "The database has no tables yet: start the service on it once, then try again.";
  }
  const isUsage =
    error instanceof UsageError ||
    error instanceof DomainError ||
    code.startsWith("ERR_PARSE_ARGS");
  return isUsage ? `${error.message}\n\n${USAGE}` : `The database did not answer: ${error.message}`;
}
