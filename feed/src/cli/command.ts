/** What a command works with besides its arguments. */
export interface CommandContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Writes a line of the result; resolves once it is written. */
  readonly print: (line: string) => Promise<void>;
  /** Tells the person something that is no result. */
  readonly tell: (line: string) => void;
  /** Asks the person for a text without showing it; undefined where nobody sits at a terminal. */
  readonly ask: ((question: string) => Promise<string>) | undefined;
  /** Aborts at Ctrl-C. */
  readonly signal: AbortSignal;
}

/** One command: its help, and what it does. */
export interface Command {
  readonly help: string;
  /** Throws a `UsageError` for arguments that it cannot use. */
  run(args: readonly string[], context: CommandContext): Promise<void>;
}

/** Arguments that a command cannot use, with a sentence that says what it can. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
