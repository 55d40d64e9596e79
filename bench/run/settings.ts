import { parseArgs } from "node:util";

/** What an option changes: a number by its least value, a choice by its names, or a flag. */
type Option = number | readonly string[] | "flag";

/** A bench's name and settings, and the settings that the command line may change. */
export type BenchSpec<Settings extends object> = {
  /** As npm knows it. */
  readonly name: string;
  /** Of a whole run, the only one whose results are kept. */
  readonly full: Settings;
  /** Of a run that only shows that the bench runs. */
  readonly short: Settings;
  readonly options?: Readonly<Partial<Record<keyof Settings & string, Option>>>;
};

/** The command line is not one; the message says why. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Reads the command line; throws UsageError. */
export function readSettings<Settings extends object>(
  args: string[],
  spec: BenchSpec<Settings>,
): Settings {
  const options = optionsOf(spec);
  const types = options.map(([name, option]) => {
    return [name, { type: option === "flag" ? "boolean" : "string" }] as const;
  });
  const { short, ...given } = parse(args, Object.fromEntries(types));
  const changed = options.flatMap(([name, option]) => {
    const text = given[name];
    return text === undefined ? [] : [[name, settingOf(name, option, text)] as const];
  });
  return { ...(short ? spec.short : spec.full), ...Object.fromEntries(changed) };
}

/** Says how a bench is called. */
export function usageOf<Settings extends object>(spec: BenchSpec<Settings>): string {
  const forms = optionsOf(spec).map(([name, option]) => {
    if (option === "flag") return `[--${name}]`;
    return `[--${name} ${typeof option === "number" ? "number" : option.join(",")}]`;
  });
  return `npm run ${spec.name} -- [--short] ${forms.join(" ")}\n`;
}

/** Tells whether two settings are the same. */
export function isSame(one: object, other: object): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function optionsOf<Settings extends object>({ options }: BenchSpec<Settings>): [string, Option][] {
  return Object.entries<Option>((options ?? {}) as Record<string, Option>); // none is undefined
}

type Parsed = Readonly<Record<string, string | boolean | undefined>>;

function parse(args: string[], options: Record<string, { type: "boolean" | "string" }>): Parsed {
  try {
    const all = { ...options, short: { type: "boolean" as const } };
    return parseArgs({ args, options: all }).values as Parsed; // no option is given twice
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function settingOf(name: string, option: Option, given: unknown): unknown {
  if (option === "flag") return given;
  const text = String(given);
  if (typeof option === "number") {
    if (/^\d{1,6}$/.test(text) && Number(text) >= option) return Number(text);
    throw new UsageError(`--${name} must be a whole number from ${option} on.`);
  }
  const names = text.split(",");
  if (names.every((each) => option.includes(each))) {
    return option.filter((each) => names.includes(each));
  }
  throw new UsageError(`--${name} accepts ${option.join(", ")}.`);
}
