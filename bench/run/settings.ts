import { parseArgs } from "node:util";

/** How to parse an option: a number with its minimum, a choice of names, or a flag. */
type Option = number | readonly string[] | "flag";

/** A bench's name and settings, and the options that change them. */
export type BenchSpec<Settings extends object> = {
  /** The name of the bench's npm script. */
  readonly name: string;
  /** The settings of a full run. Only its results are stored. */
  readonly full: Settings;
  /** The settings of a run that only shows that the bench works. */
  readonly short: Settings;
  readonly options?: Readonly<Partial<Record<keyof Settings & string, Option>>>;
};

/** An invalid command line. The message says why. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Parses the command line. Throws UsageError. */
export function readSettings<Settings extends object>(
  args: string[],
  { name, full, short, options }: BenchSpec<Settings>,
): Settings {
  const known = Object.entries<Option>((options ?? {}) as Record<string, Option>); // no option is undefined
  const types = [...known, ["short", "flag"] as const].map(([option, what]) => {
    return [option, { type: what === "flag" ? "boolean" : "string" }] as const;
  });
  try {
    const given: Record<string, unknown> = parseArgs({
      ...{ args, options: Object.fromEntries(types) },
    }).values;
    const changed = known.filter(([option]) => given[option] !== undefined);
    const read = changed.map(([option, what]) => [option, parse(option, what, given[option])]);
    return { ...(given.short ? short : full), ...Object.fromEntries(read) };
  } catch (error) {
    const accepted = known.map(([option]) => ` [--${option}]`).join("");
    const usage = `npm run ${name} -- [--short]${accepted}`;
    throw new UsageError(`${error instanceof Error ? error.message : error}\n${usage}`);
  }
}

function parse(option: string, what: Option, given: unknown): unknown {
  if (what === "flag") return given;
  const text = String(given);
  if (typeof what === "number") {
    if (/^\d{1,6}$/.test(text) && Number(text) >= what) return Number(text);
    throw new Error(`--${option} must be a whole number from ${what} on.`);
  }
  const names = text.split(",");
  if (names.every((name) => what.includes(name)))
    return what.filter((name) => names.includes(name));
  throw new Error(`--${option} accepts ${what.join(", ")}.`);
}
