import { readFile } from "node:fs/promises";
import { type ConnectionOptions, DEFAULT_BASE_URL } from "../connection.ts";
import { ACTIVITY_TYPES, type ActivityType, type Platform } from "../contract.ts";
import { type CommandContext, UsageError } from "./command.ts";

/** The options of every command that reads the API, for `parseArgs`. */
export const CONNECTION_OPTIONS = {
  "key-file": { type: "string" },
  "base-url": { type: "string" },
} as const;

export const FILTER_OPTIONS = { type: { type: "string" }, platform: { type: "string" } } as const;

export const CONNECTION_HELP = `  --key-file FILE      the file with the API key; without it ACTIVITY_KEY is read, or you are asked
  --base-url URL       the API's address; default ${DEFAULT_BASE_URL}`;

export const FILTER_HELP = `  --type TYPE          only ${ACTIVITY_TYPES.slice(0, -1).join(", ")} or ${ACTIVITY_TYPES.at(-1)}
  --platform NAME      only one platform or import source`;

const KEY = /[a-z]+_live_[0-9a-f]{8}/;

type Values = {
  readonly "key-file"?: string | undefined;
  readonly "base-url"?: string | undefined;
};
type Filters = { readonly type?: string | undefined; readonly platform?: string | undefined };

/** Refuses an argument that holds an API key or is an option for one, such as `--key`. */
export function refuseKeys(args: readonly string[]): void {
  if (!args.some((arg) => KEY.test(arg) || /^--?(api-?)?key(=|$)/.test(arg))) return;
  throw new UsageError(
    "Do not pass an API key as an argument: other users can read it, and the shell's history keeps " +
      "it. Set ACTIVITY_KEY, use --key-file, or enter the key when asked. If you typed a key, revoke " +
      "it in the dashboard.",
  );
}

/** Reads the API key and the address. The user sees when a request waits. */
export async function readConnection(
  values: Values,
  { env, ask, tell, signal }: CommandContext,
): Promise<ConnectionOptions> {
  const path = values["key-file"];
  const baseUrl = values["base-url"] ?? DEFAULT_BASE_URL;
  const apiKey = path
    ? await readFile(path, "utf8")
    : (env.ACTIVITY_KEY ?? (await ask?.("API key: ")));
  // Ctrl-C at the question aborts the signal, so the command ends here.
  signal.throwIfAborted();
  if (!apiKey?.trim()) {
    throw new UsageError("No API key: set ACTIVITY_KEY, or name a file with --key-file.");
  }
  return {
    ...{ apiKey, baseUrl, signal },
    onWait(reason, ms) {
      // A wrong address, or a certificate that Node does not trust, looks like an unreachable network. So the hint
      // names both.
      const isUnreachable = reason === "network_error";
      const hint = isUnreachable ? " If this continues, check --base-url and certificates." : "";
      const seconds = Math.ceil(ms / 1_000);
      tell(`${reason} at ${baseUrl}: the next request is in ${seconds} seconds.${hint}`);
    },
  };
}

/** Returns the filters for the client, which refuses invalid ones. */
export function readFilters({ type, platform }: Filters) {
  return { type: type as ActivityType | undefined, platform: platform as Platform | undefined };
}
