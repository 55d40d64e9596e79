import { FeedError } from "../feed-error.ts";
import { type Command, type CommandContext, UsageError } from "./command.ts";
import { refuseKeys } from "./connection-options.ts";
import { escapeControls } from "./escape-controls.ts";
import { exportCommand } from "./export-command.ts";
import { followCommand } from "./follow-command.ts";
import { hubCommand } from "./hub-command.ts";
import { meCommand } from "./me-command.ts";

const USAGE = `activity-feed: reads your activity

  activity-feed hub                            serves an overlay for OBS, events and a WebSocket
  activity-feed follow                         prints each record as a line of JSON
  activity-feed export --csv --since TIME      writes history as CSV
  activity-feed me                             shows your key's account, and when the key ends

Each command has --help. The API key is read from ACTIVITY_KEY or a file, never from an argument.`;

const COMMANDS: ReadonlyMap<string, Command> = new Map([
  ["hub", hubCommand],
  ["follow", followCommand],
  ["export", exportCommand],
  ["me", meCommand],
]);

/** The code that a shell reports for Ctrl-C. The command's output is then incomplete. */
export const INTERRUPTED = 130;

/**
 * Runs the command in `args`. Returns the exit code: 1 for a failure, 2 for wrong arguments, 130 if it was interrupted
 * before its end.
 */
export async function runCommand(
  args: readonly string[],
  context: CommandContext,
): Promise<number> {
  const [name = "--help", ...rest] = args;
  try {
    refuseKeys(args);
    refuseEmpty(args);
    if (/^(--help|-h|help)$/.test(name)) {
      await context.print(USAGE);
      return 0;
    }
    const command = COMMANDS.get(name);
    if (!command) {
      const names = [...COMMANDS.keys()].join(", ");
      throw new UsageError(`There is no command ${JSON.stringify(name)}: there are ${names}.`);
    }
    if (rest.some((arg) => arg === "--help" || arg === "-h")) await context.print(command.help);
    else await command.run(rest, guardTerminal(context));
    return 0;
  } catch (error) {
    if (context.signal.aborted && error === context.signal.reason) return INTERRUPTED;
    return tellFailure(error, context, COMMANDS.has(name) ? ` ${name}` : "");
  }
}

/** Refuses an empty value: `--checkpoint "$FILE"` with an unset variable would keep no position. */
function refuseEmpty(args: readonly string[]): void {
  const at = args.findIndex((arg) => arg === "" || /^--[\w-]+=$/.test(arg));
  if (at < 0) return;
  const option = (args[at] || args[at - 1] || "An argument").replace("=", "");
  throw new UsageError(`${option} has an empty value. Is a variable of the shell unset?`);
}

/** A supporter's text must not change the owner's terminal. Files and pipes get the exact text. */
function guardTerminal(context: CommandContext): CommandContext {
  if (!context.isTerminal) return context;
  return { ...context, print: (line) => context.print(escapeControls(line)) };
}

function tellFailure(error: unknown, { tell }: CommandContext, command: string): number {
  if (!(error instanceof Error)) throw error;
  const code = "code" in error ? String(error.code) : "";
  const isUsage = error instanceof UsageError || code.startsWith("ERR_PARSE_ARGS");
  // Errors with a code, from the file system or the network, have a readable message. Any other error is a bug, so it
  // is thrown.
  if (!isUsage && !(error instanceof FeedError) && code === "") throw error;
  const hint = isUsage ? ` See activity-feed${command} --help.` : "";
  // The message is escaped, because it may quote the answer of a server that is not the API.
  tell(escapeControls(`activity-feed${command}: ${error.message}${hint}`));
  return isUsage || code === "invalid_option" ? 2 : 1;
}
