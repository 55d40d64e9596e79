import { VerificationError } from "../verification-error.ts";
import { type Command, type CommandContext, UsageError } from "./command.ts";
import { listenCommand } from "./listen-command.ts";
import { sendCommand } from "./send-command.ts";
import { verifyCommand } from "./verify-command.ts";

const USAGE = `receiver-kit: receives signed webhooks right

  receiver-kit listen [--port 8787]            prints each verified event
  receiver-kit send URL                        sends good and bad deliveries, shows the answers
  receiver-kit send URL --body FILE            sends that event, signed now; - reads it from the pipe
  receiver-kit verify --headers FILE --body FILE [--at SECONDS]
                                               says which check a delivery fails

The signing secret is read from WEBHOOK_SECRET, or given with --secret.`;

const COMMAND_BY_NAME: Readonly<Record<string, Command>> = {
  listen: listenCommand,
  send: sendCommand,
  verify: verifyCommand,
};

/** Runs the command that `args` name. Returns the exit code: 2 for arguments it cannot use. */
export async function runCommand(
  args: readonly string[],
  env: CommandContext["env"],
  print: (line: string) => void,
): Promise<number> {
  const [name = "--help", ...rest] = args;
  if (name === "--help" || name === "-h" || name === "help") {
    print(USAGE);
    return 0;
  }
  try {
    const command = Object.hasOwn(COMMAND_BY_NAME, name) ? COMMAND_BY_NAME[name] : undefined;
    if (!command) throw new UsageError(`there is no command ${name}; see receiver-kit --help`);
    return await command(rest, { env, print });
  } catch (error) {
    if (!isUsersToMend(error)) throw error;
    print(`receiver-kit: ${error.message}`);
    return 2;
  }
}

function isUsersToMend(error: unknown): error is Error {
  if (error instanceof UsageError || error instanceof VerificationError) return true;
  // What parseArgs, the file system and the network say is a sentence already.
  return error instanceof Error && "code" in error;
}
