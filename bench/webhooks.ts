import { createProgress } from "../dev-stack/src/progress.ts";
import { describeMachine } from "./report/machine.ts";
import { publish } from "./report/publish.ts";
import { runMain, stopOnSignal } from "./run-main.ts";
import { measureRounds } from "./webhooks/measure-rounds.ts";
import { toMarkdown } from "./webhooks/report/markdown.ts";
import { countWrong, type Results } from "./webhooks/report/results.ts";
import { isWhole, readSettings, type Settings, USAGE } from "./webhooks/settings.ts";
import { prepareAccounts, startWebhooksStack } from "./webhooks/webhooks-stack.ts";

const progress = createProgress();

/** Measures webhooks end to end, from calls that write to the receiver, beside the floor of Temporal. */
async function main(settings: Settings): Promise<void> {
  const stack = await startWebhooksStack(progress);
  stopOnSignal(stack.stop);
  try {
    const accounts = await progress.step("Making the accounts", () =>
      prepareAccounts(stack, settings.accounts),
    );
    const rounds = await measureRounds(stack, accounts, settings, progress);
    const machine = describeMachine(stack.databaseVersion);
    const results: Results = { machine, settings, rounds };
    await publish(results, toMarkdown(results), isWhole(settings) ? "webhooks" : undefined);
    const wrong = countWrong(results);
    if (wrong > 0) throw new Error(`${wrong} events were lost or came more than once`);
  } finally {
    await stack.stop();
  }
}

await runMain(USAGE, (args) => main(readSettings(args)));
