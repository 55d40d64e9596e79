import { createProgress } from "../dev-stack/src/progress.ts";
import { startCostStack } from "./cost/cost-stack.ts";
import { type Results, toMarkdown } from "./cost/markdown.ts";
import { measure } from "./cost/measure.ts";
import { readSettings, type Settings, USAGE } from "./cost/settings.ts";
import { describeMachine } from "./report/machine.ts";
import { publish } from "./report/publish.ts";
import { runMain, stopOnSignal } from "./run-main.ts";

const progress = createProgress();

/** Measures what donations cost in everything but time, and what they leave behind. */
async function main(settings: Settings): Promise<void> {
  const stack = await startCostStack(settings.accounts, progress);
  stopOnSignal(stack.stop);
  try {
    const { databaseVersion } = stack.store;
    const measured = await measure(stack, settings, progress);
    const results: Results = { machine: describeMachine(databaseVersion), settings, measured };
    const [flavour] = databaseVersion.split(" ");
    await publish(
      results,
      toMarkdown(results),
      settings.name === "full" ? `cost-${flavour}` : undefined,
    );
  } finally {
    await stack.stop();
  }
}

await runMain(USAGE, (args) => main(readSettings(args)));
