import { parseArgs } from "node:util";
import { file } from "../checkpoint/file.ts";
import { follow } from "../follow.ts";
import type { Command } from "./command.ts";
import {
  CONNECTION_HELP,
  CONNECTION_OPTIONS,
  FILTER_HELP,
  FILTER_OPTIONS,
  readConnection,
  readFilters,
} from "./connection-options.ts";
import { escapeControls } from "./escape-controls.ts";
import { warnOfKeyEnd } from "./key-warning.ts";

/** Prints each record as a line of JSON until it is interrupted. */
export const followCommand: Command = {
  help: `activity-feed follow: prints each record as a line of JSON, until Ctrl-C

  --since TIME         begins with records stored at that time, such as 2026-03-01T12:00:00Z;
                       default: just after the newest record
  --checkpoint FILE    continues after the last printed record of the run before
${FILTER_HELP}
${CONNECTION_HELP}`,

  async run(args, context) {
    const { values } = parseArgs({
      args: [...args],
      options: {
        ...CONNECTION_OPTIONS,
        ...FILTER_OPTIONS,
        since: { type: "string" },
        checkpoint: { type: "string" },
      },
    });
    const kept = values.checkpoint ? file(values.checkpoint) : undefined;
    const follower = follow({
      ...(await readConnection(values, context)),
      ...readFilters(values),
      since: values.since,
      checkpoint: kept && {
        ...kept,
        save(state) {
          context.sync();
          return kept.save(state);
        },
      },
      onKeyEnding: warnOfKeyEnd(context),
    });
    for await (const activity of follower) {
      // This escapes U+007F to U+009F and direction marks, which JSON leaves as they are.
      await context.print(escapeControls(JSON.stringify(activity)));
    }
  },
};
