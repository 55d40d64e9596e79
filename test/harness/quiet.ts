import type { Log } from "@activity/runtime/log";

const nothing = () => undefined;

/** A log that drops every line. */
export const QUIET: Log = { info: nothing, warn: nothing, error: nothing };
