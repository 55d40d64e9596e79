/** Everything that a command uses except its arguments. */
export interface CommandContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Writes a line of the result. Resolves once it is written. */
  readonly print: (line: string) => Promise<void>;
  /** Whether `print` writes to a terminal. */
  readonly isTerminal: boolean;
  /** Makes the written lines outlive a power cut, if the output is a file. */
  readonly sync: () => void;
  /** Shows the user a line that is not part of the result. */
  readonly tell: (line: string) => void;
  /** Asks the user for a text without showing it; undefined without a terminal. */
  readonly ask: ((question: string) => Promise<string>) | undefined;
  /** Aborts at Ctrl-C or SIGTERM. */
  readonly signal: AbortSignal;
}

export interface Command {
  readonly help: string;
  /** Throws a `UsageError` for invalid arguments. */
  run(args: readonly string[], context: CommandContext): Promise<void>;
}

/** Thrown for invalid arguments. The message says what the command accepts. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
