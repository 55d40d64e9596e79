import { createProgress } from "../dev-stack/src/progress.ts";
import { measureImports } from "./ingest/cases/measure-imports.ts";
import { measureSingles } from "./ingest/cases/measure-singles.ts";
import { startIngestStack } from "./ingest/ingest-stack.ts";
import { toMarkdown } from "./ingest/report/markdown.ts";
import type { Results } from "./ingest/report/results.ts";
import { isWhole, readSettings, type Settings, USAGE } from "./ingest/settings.ts";
import { describeMachine } from "./report/machine.ts";
import { publish } from "./report/publish.ts";
import { runMain, stopOnSignal } from "./run-main.ts";

const progress = createProgress();

/** Measures writing alone: single contributions beside the same rows by hand, and imports. */
async function main(settings: Settings): Promise<void> {
  const stack = await startIngestStack(progress);
  stopOnSignal(stack.stop);
  try {
    const singles = await measureSingles(stack, settings, progress);
    const imports = await measureImports(stack, settings, progress);
    const machine = describeMachine(stack.store.databaseVersion);
    const results: Results = { machine, settings, singles, imports };
    await publish(results, toMarkdown(results), isWhole(settings) ? "ingest" : undefined);
  } finally {
    await stack.stop();
  }
}

await runMain(USAGE, (args) => main(readSettings(args)));
