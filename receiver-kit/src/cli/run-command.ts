import { VerificationError } from "../verification-error.ts";
import { type Command, type CommandContext, UsageError } from "./command.ts";
import { listenCommand } from "./listen-command.ts";
import { sendCommand } from "./send-command.ts";
import { verifyCommand } from "./verify-command.ts";

const USAGE = `receiver-kit: tests receivers of signed webhooks

  receiver-kit listen [--port 8787]            prints each verified event
  receiver-kit send URL                        sends good and bad deliveries, and shows the answers
  receiver-kit send URL --body FILE            signs and sends the event in FILE; - is standard input
  receiver-kit verify --headers FILE --body FILE [--at SECONDS]
                                               shows which check a delivery fails

The signing secret comes from WEBHOOK_SECRET or --secret. Prefer WEBHOOK_SECRET: the process list and the shell's
history show --secret.`;

const COMMAND_BY_NAME: Readonly<Record<string, Command>> = {
  listen: listenCommand,
  send: sendCommand,
  verify: verifyCommand,
};

/** Runs the command in `args`. Returns the exit code: 2 for invalid arguments. */
export async function runCommand(
  args: readonly string[],
  env: CommandContext["env"],
  write: (line: string) => void,
): Promise<number> {
  const print = (line: string) => write(escapeControls(line));
  const [name = "help", ...rest] = args;
  if (name === "help" || args.includes("--help") || args.includes("-h")) {
    print(USAGE);
    return 0;
  }
  try {
    const command = Object.hasOwn(COMMAND_BY_NAME, name) ? COMMAND_BY_NAME[name] : undefined;
    if (!command) throw new UsageError(`there is no command ${name}; see receiver-kit --help`);
    return await command(rest, { env, print });
  } catch (error) {
    if (!isUsersMistake(error)) throw error;
    print(`receiver-kit: ${error.message}`);
    return 2;
  }
}

/**
 * Escapes control characters and direction marks as JSON does, but keeps line feeds. An event holds strangers' texts,
 * and such a character could change the terminal, or reverse the text after it.
 */
function escapeControls(text: string): string {
  return text.replace(
    /(?!\n)[\p{Cc}\p{Bidi_Control}]/gu,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function isUsersMistake(error: unknown): error is Error {
  if (error instanceof UsageError || error instanceof VerificationError) return true;
  // Errors with a code, from parseArgs, the file system or the network, have a readable message. So the user sees no
  // stack.
  return error instanceof Error && "code" in error;
}
