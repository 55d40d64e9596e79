import { parseArgs } from "node:util";
import { file } from "../checkpoint/file.ts";
import { createToken, readToken, startHub } from "../hub/index.ts";
import { type Command, UsageError } from "./command.ts";
import {
  CONNECTION_HELP,
  CONNECTION_OPTIONS,
  FILTER_HELP,
  FILTER_OPTIONS,
  readConnection,
  readFilters,
} from "./connection-options.ts";
import { warnOfKeyEnd } from "./key-warning.ts";

/** The default port. It is not 4190, because browsers refuse that as the port of another protocol. */
const DEFAULT_PORT = "4191";

/** Follows an account and serves it on this machine until it is interrupted. */
export const hubCommand: Command = {
  help: `activity-feed hub: follows your account and serves it on this machine, until Ctrl-C

It prints the address of an overlay for OBS. It also serves /events (server-sent events) and /socket
(a WebSocket) with the same token. None of them has the API key.

  --port PORT          default ${DEFAULT_PORT}; 0 takes a free one
  --token-file FILE    keeps the token, so that the addresses stay the same
  --checkpoint FILE    continues where the last run ended
${FILTER_HELP}
${CONNECTION_HELP}

The overlay takes &theme=light and, for donations, &min=CENTS.`,

  async run(args, context) {
    const { values } = parseArgs({
      args: [...args],
      options: {
        ...{ ...CONNECTION_OPTIONS, ...FILTER_OPTIONS, checkpoint: { type: "string" } },
        port: { type: "string", default: DEFAULT_PORT },
        "token-file": { type: "string" },
      },
    });
    const port = parsePort(values.port);
    const connection = await readConnection(values, context);
    const tokenFile = values["token-file"];
    const token = tokenFile ? await readToken(tokenFile) : createToken();
    const hub = await startHub({
      ...{ ...connection, ...readFilters(values), port, token },
      checkpoint: values.checkpoint ? file(values.checkpoint) : undefined,
      onKeyEnding: warnOfKeyEnd(context),
    }).catch((error) => {
      // Windows reserves ranges of ports. A port in one of them fails with EACCES, and counts as taken.
      throw ["EADDRINUSE", "EACCES"].includes(error.code) ? portTaken(port) : error;
    });
    try {
      const { overlayUrl } = hub;
      await context.print(`Overlay   ${overlayUrl}`);
      await context.print(`Events    ${overlayUrl.replace("/overlay", "/events")}`);
      await context.print(
        `Socket    ${overlayUrl.replace("http", "ws").replace("/overlay", "/socket")}`,
      );
      context.tell(
        "Add the overlay to OBS as a browser source. Anyone with its address can read it.",
      );
      await hub.ended;
    } finally {
      await hub.close();
    }
  },
};

function parsePort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new UsageError("--port is a number from 0 to 65535.");
}

function portTaken(port: number): UsageError {
  return new UsageError(`Port ${port} is used or reserved: choose another with --port.`);
}
