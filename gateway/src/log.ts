/** What is logged: one JSON line an entry. Values are ids and codes, never keys, queries or stored text. */
export type Log = {
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
};

/** Creates a log that gives each line to `write`. */
export function createLog(write: (line: string) => void): Log {
  const entry =
    (level: string) =>
    (message: string, fields: Readonly<Record<string, unknown>> = {}) =>
      write(`${JSON.stringify({ level, message, ...fields }, redact)}\n`);
  return { info: entry("info"), error: entry("error") };
}

/** Of an error its class, code and places are logged, not its message, which may hold what a client sent. */
function redact(_name: string, value: unknown): unknown {
  if (value instanceof Error) {
    const at = value.stack?.split("\n").filter((line) => /^\s+at /.test(line));
    return {
      name: value.name,
      code: "code" in value ? value.code : undefined,
      at: at?.slice(0, 8),
    };
  }
  if (typeof value === "string") return value.replace(SECRET, "[secret]");
  if (typeof value === "bigint") return value.toString();
  return value;
}

const SECRET = /\b(act_(live|svc)_|whsec_)[A-Za-z0-9+/=]+/g;
