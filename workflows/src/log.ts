/** What is logged: names, ids and codes. The core's log is one. */
export type Log = {
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** Works, and is worth a look. */
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
};

/** Creates a log that gives each line, one JSON object, to `write`. */
export function createLog(write: (line: string) => void): Log {
  const entry =
    (level: string) =>
    (message: string, fields: Readonly<Record<string, unknown>> = {}) =>
      write(`${JSON.stringify({ level, message, ...fields }, nameErrors)}\n`);
  return { info: entry("info"), warn: entry("warn"), error: entry("error") };
}

/** Of an error its class, code and places are logged, not its message, which can hold what was asked for. */
function nameErrors(_key: string, value: unknown): unknown {
  if (!(value instanceof Error)) return value;
  const at = value.stack?.split("\n").filter((line) => /^\s+at /.test(line));
  const code = "code" in value ? value.code : undefined;
  return { name: value.name, code, at: at?.slice(0, 8) };
}
