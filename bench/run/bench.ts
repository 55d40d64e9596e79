import { inspect } from "node:util";
import { publish, type Report } from "../report/report.ts";
import { createProgress, type Progress, StackError } from "../stack/dev-stack.ts";
import { type BenchSpec, readSettings, UsageError } from "./settings.ts";

/** The shared parts of a running bench. */
export type Bench<Settings = unknown> = {
  readonly settings: Settings;
  readonly progress: Progress;
  /** Registers `close` for the end of the bench. The last registered is called first. */
  closeLater(close: () => unknown): void;
};

/** Runs a bench with the options of the command line. Publishes its report, if it returns one. */
export async function runBench<Settings extends object>(
  spec: BenchSpec<Settings>,
  measure: (bench: Bench<Settings>) => Promise<Report | undefined>,
): Promise<void> {
  const open: (() => unknown)[] = [];
  const closeAll = async () => {
    for (const close of open.splice(0).toReversed()) await closeQuietly(close);
  };
  for (const signal of ["SIGINT", "SIGTERM"]) {
    process.once(signal, () => void closeAll().finally(() => process.exit(130)));
  }
  try {
    const settings = readSettings(process.argv.slice(2), spec);
    const closeLater = (close: () => unknown) => open.push(close);
    const report = await measure({ settings, progress: createProgress(), closeLater });
    if (report !== undefined) await publish(spec, settings, report);
  } catch (error) {
    const isForPeople = error instanceof StackError || error instanceof UsageError;
    process.stderr.write(`${isForPeople ? error.message : inspect(error)}\n`);
    process.exitCode = 1;
  } finally {
    await closeAll();
  }
}

async function closeQuietly(close: () => unknown): Promise<void> {
  try {
    await close();
  } catch {
    // A part that cannot be closed has already ended.
  }
}
