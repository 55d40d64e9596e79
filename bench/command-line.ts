import { type ParseArgsConfig, parseArgs } from "node:util";

/** The command line is not one; the message says why. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Reads options as `parseArgs` does; throws UsageError. */
export function readOptions<Options extends NonNullable<ParseArgsConfig["options"]>>(
  args: string[],
  options: Options,
) {
  try {
    return parseArgs({ args, options }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** Reads an option as a whole number of at most six digits, `least` or more; throws UsageError. */
export function wholeNumber(name: string, text: string, least: number): number {
  const value = Number(text);
  if (/^\d{1,6}$/.test(text) && value >= least) return value;
  throw new UsageError(`--${name} must be a whole number from ${least} on.`);
}
