import { parseArgs } from "node:util";
import {
  administerServiceCredentials,
  type CredentialAdministration,
  DatabaseUrlError,
  DEFAULT_VALIDITY_DAYS,
  DomainError,
  MAX_VALIDITY_DAYS,
  PERMISSION_NAMES,
  parseCredentialName,
  parsePermissions,
  parseValidityDays,
  readDatabaseUrl,
} from "@activity/server";
import { databaseSentence } from "./database-error.ts";

const USAGE = `Keeps the credentials of internal services, in the database that DATABASE_URL names.

  npm run credential -- create --name NAME --permission PERMISSION [--permission …]
                               [--account ID] [--days DAYS] [--replace]
  npm run credential -- list
  npm run credential -- revoke NAME

A credential is for all accounts or, with --account, for the one with this id: it is refused if a
call names another account or none. It expires after ${DEFAULT_VALIDITY_DAYS} days, or as many as --days says, 1 to ${MAX_VALIDITY_DAYS}.
To replace one, create another under a new name, give it to its service, then revoke the old one.
If the old one is lost, use --replace. It revokes NAME and every NAME-number, also those still used,
and creates the next number.

Permissions: ${PERMISSION_NAMES.join(", ")}`;

/** Thrown for an invalid command line. The message says how to correct it. */
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
          account: { type: "string" },
          days: { type: "string", default: `${DEFAULT_VALIDITY_DAYS}` },
          replace: { type: "boolean", default: false },
        },
      });
      const credential = {
        name: parseCredentialName(values.name ?? ""),
        permissions: parsePermissions(values.permission),
        accountId: values.account,
      };
      const days = parseValidityDays(values.days);
      return async (administration) => {
        const replaced = values.replace ? await findNumbered(administration, credential.name) : [];
        const name = nextName(credential.name, replaced);
        const text = await administration.create({ ...credential, name }, days);
        process.stderr.write(
          `Created ${name}, for ${accountOf(credential)} and ${days} ${days === 1 ? "day" : "days"}. Its text is shown this once:\n`,
        );
        process.stdout.write(`${text}\n`);
        // Revokes only after it has printed the text. Otherwise a failed revocation would lose the text.
        for (const each of replaced) if (each.isActive) await revoke(administration, each.name);
      };
    }
    case "list":
      parseArgs({ args: rest, options: {} });
      return list;
    case "revoke": {
      const { positionals } = parseArgs({ args: rest, options: {}, allowPositionals: true });
      const [name] = positionals;
      if (name === undefined || positionals.length > 1) {
        throw new UsageError("revoke takes one NAME.");
      }
      return (administration) => revoke(administration, name);
    }
    default:
      throw new UsageError("Say what to do: create, list or revoke.");
  }
}

/** A stored credential with the replaced name, or with that name and a number. */
type Numbered = { readonly name: string; readonly number: number; readonly isActive: boolean };

async function findNumbered(
  administration: CredentialAdministration,
  name: string,
): Promise<Numbered[]> {
  const stored = await administration.list();
  return stored.flatMap((each) => {
    const rest = each.name.startsWith(name) ? each.name.slice(name.length) : undefined;
    const number = rest === "" ? 1 : Number(/^-(\d+)$/.exec(rest ?? "")?.[1]);
    if (Number.isNaN(number)) return [];
    return [{ name: each.name, number, isActive: each.state === "active" }];
  });
}

/**
 * Returns the name, with the next number if it was used before: a name belongs to one credential for ever (ADR 0033).
 */
function nextName(name: string, numbered: readonly Numbered[]): string {
  if (numbered.length === 0) return name;
  return parseCredentialName(`${name}-${Math.max(...numbered.map(({ number }) => number)) + 1}`);
}

function databaseUrl(): string {
  return readDatabaseUrl(process.env, (text) => {
    throw new UsageError(text);
  });
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
  const rows = (await administration.list()).map((credential) => [
    credential.name,
    credential.state,
    accountOf(credential),
    timeText(credential.createdAtMicros),
    timeText(credential.expiresAtMicros),
    [...credential.permissions].join(" "),
  ]);
  const table = [["NAME", "STATE", "ACCOUNT", "CREATED", "EXPIRES", "PERMISSIONS"], ...rows];
  const width = (column: number) => Math.max(...table.map((row) => row[column]?.length ?? 0));
  for (const row of table) {
    const cells = row.map((cell, column) => cell.padEnd(width(column)));
    process.stdout.write(`${cells.join("  ").trimEnd()}\n`);
  }
}

function accountOf({ accountId }: { readonly accountId: string | undefined }): string {
  return accountId ?? "all accounts";
}

/** Formats a database time as UTC, to the second. */
function timeText(micros: number): string {
  return new Date(micros / 1000).toISOString().replace(/\.\d+Z$/, "Z");
}

async function revoke(administration: CredentialAdministration, name: string): Promise<void> {
  if (!(await administration.revoke(name))) {
    throw new UsageError("There is no service credential with this NAME; `list` shows them all.");
  }
  process.stderr.write(`Revoked ${name}: it is refused within five seconds.\n`);
}

/** Says what to do next. Adds the usage if the command line or a variable is wrong. */
function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isUsage =
    error instanceof UsageError ||
    error instanceof DomainError ||
    error instanceof DatabaseUrlError ||
    ("code" in error && String(error.code).startsWith("ERR_PARSE_ARGS"));
  return isUsage ? `${error.message}\n\n${USAGE}` : databaseSentence(error);
}
