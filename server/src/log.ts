/** What is logged: one JSON line an entry. Values are ids, names of calls and codes, never stored text. */
export type Log = {
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** Works, and is worth a look. */
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
};

/** Creates a log that gives each line to `write`. */
export function createLog(write: (line: string) => void): Log {
  const entry =
    (level: string) =>
    (message: string, fields: Readonly<Record<string, unknown>> = {}) =>
      write(`${JSON.stringify({ level, message, ...fields }, redact)}\n`);
  return { info: entry("info"), warn: entry("warn"), error: entry("error") };
}

/**
 * Of an error the class, the driver's code and the places in our code are logged, not its message: a
 * driver's message can hold the statement with its values. Anything that looks like a secret is cut out.
 */
function redact(_key: string, value: unknown): unknown {
  if (value instanceof Error) {
    const { name, stack } = value;
    const code = "code" in value ? value.code : undefined;
    return {
      name,
      code,
      at: stack
        ?.split("\n")
        .filter((line) => /^\s+at /.test(line))
        .slice(0, 8),
    };
  }
  if (typeof value === "string") return value.replace(SECRET, "[secret]");
  if (typeof value === "bigint") return value.toString();
  return value;
}

const SECRET = /\b(act_(live|svc)_|whsec_)[A-Za-z0-9+/=]+/g;
