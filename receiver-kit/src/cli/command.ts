/** What a command works with besides its arguments. */
export interface CommandContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly print: (line: string) => void;
}

/** Runs one command and returns the exit code. Throws `UsageError` for arguments it cannot use. */
export type Command = (args: readonly string[], context: CommandContext) => Promise<number>;

/** Arguments that a command cannot use, with a sentence that says what it can. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Returns the secret that was given, which `WEBHOOK_SECRET` keeps out of the process list. */
export function findSecret(
  option: string | undefined,
  { env }: CommandContext,
): string | undefined {
  return option ?? env.WEBHOOK_SECRET;
}

/** Returns the secret that was given, or says how to give it. */
export function readSecret(option: string | undefined, context: CommandContext): string {
  const secret = findSecret(option, context);
  if (secret) return secret;
  throw new UsageError("give the signing secret as WEBHOOK_SECRET or with --secret");
}
