/** What is logged: names, ids and codes. The core's log is one. */
export type Log = {
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
};
