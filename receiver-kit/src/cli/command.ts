/** Everything that a command uses except its arguments. */
export interface CommandContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly print: (line: string) => void;
}

/** Runs a command and returns the exit code. Throws a `UsageError` for invalid arguments. */
export type Command = (args: readonly string[], context: CommandContext) => Promise<number>;

/** Thrown for invalid arguments. The message says what the command accepts. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Returns the secret of `--secret` or `WEBHOOK_SECRET`. The variable keeps the secret out of the process list. */
export function findSecret(
  option: string | undefined,
  { env }: CommandContext,
): string | undefined {
  return option ?? env.WEBHOOK_SECRET;
}

/** Returns the secret, or throws a `UsageError` that says how to give it. */
export function readSecret(option: string | undefined, context: CommandContext): string {
  const secret = findSecret(option, context);
  if (secret) return secret;
  throw new UsageError("give the signing secret as WEBHOOK_SECRET or with --secret");
}
