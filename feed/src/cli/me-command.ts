import { parseArgs } from "node:util";
import { me } from "../me.ts";
import type { Command } from "./command.ts";
import { CONNECTION_HELP, CONNECTION_OPTIONS, readConnection } from "./connection-options.ts";
import { whenText } from "./key-warning.ts";

const DAY_MS = 86_400_000;

/** Shows the key's account and the key's end. */
export const meCommand: Command = {
  help: `activity-feed me: shows your key's account, and when the key ends

${CONNECTION_HELP}`,

  async run(args, context) {
    const { values } = parseArgs({ args: [...args], options: CONNECTION_OPTIONS });
    const { display_name, username, key } = await me(await readConnection(values, context));
    const days = Math.ceil((Date.parse(key.expires_at) - Date.now()) / DAY_MS);
    await context.print(`Account   ${display_name} (${username})`);
    await context.print(`Key       ${key.prefix}…`);
    await context.print(
      `Ends      ${key.expires_at.slice(0, 16).replace("T", " ")} UTC, ${whenText(days)}`,
    );
  },
};
