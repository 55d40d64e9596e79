import { open, rename } from "node:fs/promises";
import { parseArgs } from "node:util";
import { list } from "../list.ts";
import { type Command, type CommandContext, UsageError } from "./command.ts";
import {
  CONNECTION_HELP,
  CONNECTION_OPTIONS,
  FILTER_HELP,
  FILTER_OPTIONS,
  readConnection,
  readFilters,
} from "./connection-options.ts";
import { CSV_HEADER, csvLine } from "./csv.ts";

const PROGRESS_EVERY = 1_000;
const BYTE_ORDER_MARK = "\uFEFF";

/** Writes history as CSV. */
export const exportCommand: Command = {
  help: `activity-feed export: writes history as CSV, oldest first

  --csv                the format; required, and the only one
  --since TIME         the start, inclusive, such as 2026-01-01T00:00:00Z
  --until TIME         the end, exclusive; default: just after the newest record
  --output FILE        writes a file, which appears once it is complete; default: standard output
${FILTER_HELP}
${CONNECTION_HELP}`,

  async run(args, context) {
    const { values } = parseArgs({
      args: [...args],
      options: {
        ...{ ...CONNECTION_OPTIONS, ...FILTER_OPTIONS, csv: { type: "boolean" } },
        ...{ since: { type: "string" }, until: { type: "string" }, output: { type: "string" } },
      },
    });
    if (!values.csv || !values.since) {
      throw new UsageError("Give the format and the start: --csv --since 2026-01-01T00:00:00Z");
    }
    const activities = list({
      ...(await readConnection(values, context)),
      ...readFilters(values),
      ...{ since: values.since, until: values.until },
    });
    const output = values.output ? await openOutput(values.output) : printTo(context);
    let count = 0;
    try {
      await output.write(CSV_HEADER);
      for await (const activity of activities) {
        await output.write(csvLine(activity));
        count += 1;
        if (count % PROGRESS_EVERY === 0)
          context.tell(`${count} records, up to ${activity.recorded_at}`);
      }
      await output.finish();
    } finally {
      await output.close();
    }
    context.tell(`${count} records${values.output ? ` in ${values.output}` : ""}.`);
  },
};

interface Output {
  write(line: string): Promise<unknown>;
  /** Called once all is written. */
  finish(): Promise<void>;
  close(): Promise<void>;
}

const printTo = ({ print, isTerminal }: CommandContext): Output => ({
  write: (line) => print(isTerminal ? line : `${line}\r`),
  finish: async () => {},
  close: async () => {},
});

async function openOutput(path: string): Promise<Output> {
  const part = `${path}.part`;
  const opened = await open(part, "w", 0o600);
  // Without a byte order mark, Excel reads UTF-8 as another encoding.
  await opened.appendFile(BYTE_ORDER_MARK);
  return {
    write: (line) => opened.appendFile(`${line}\r\n`),
    async finish() {
      // Without this, a power cut could leave an incomplete file under the final name.
      await opened.sync();
      await opened.close();
      await rename(part, path);
    },
    close: () => opened.close(),
  };
}
