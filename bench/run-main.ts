import { inspect } from "node:util";
import { StackError } from "../dev-stack/src/stack-error.ts";
import { UsageError } from "./command-line.ts";

/** Runs a bench with the arguments of the command line; what is wrong with them is said with its usage. */
export async function runMain(
  usage: string,
  main: (args: string[]) => Promise<void>,
): Promise<void> {
  try {
    await main(process.argv.slice(2));
  } catch (error) {
    const isForPeople = error instanceof StackError || error instanceof UsageError;
    process.stderr.write(`${isForPeople ? error.message : inspect(error)}\n`);
    if (error instanceof UsageError) process.stderr.write(usage);
    process.exitCode = 1;
  }
}

/** Stops what runs at Ctrl-C or SIGTERM, then ends. */
export function stopOnSignal(stop: () => Promise<void>): void {
  const end = () => void stop().finally(() => process.exit(130));
  process.once("SIGINT", end);
  process.once("SIGTERM", end);
}
