import { mkdir, writeFile } from "node:fs/promises";
import { cpus, release, totalmem } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { BenchSpec } from "../run/settings.ts";
import { type Goal, goalTable } from "./goal.ts";

/** The result of a bench. */
export type Report = {
  /** The name of the database and of other software. */
  readonly on: string;
  /** Lines that say how it was measured. */
  readonly about: readonly string[];
  /** Tables and the texts between them, as lines. Empty blocks are omitted. */
  readonly blocks: readonly (readonly string[])[];
  readonly goals?: readonly Goal[];
  /** Why the run fails although it was measured. */
  readonly wrong?: string | undefined;
};

const RESULTS = fileURLToPath(new URL("../results", import.meta.url));

/** Prints a report. Stores a full run's report. */
export async function publish<Settings extends object>(
  { name, full }: BenchSpec<Settings>,
  settings: Settings,
  report: Report,
): Promise<void> {
  const head = [`${describeMachine(report.on).join(", ")}.`, ...report.about];
  const blocks = [[`# ${name}`], head, ...report.blocks, goalTable(report.goals ?? [])];
  const filled = blocks.filter(({ length }) => length > 0).map((lines) => lines.join("\n"));
  const markdown = `${filled.join("\n\n")}\n`;
  process.stdout.write(`\n${markdown}`);
  if (JSON.stringify(settings) === JSON.stringify(full)) {
    const keptAs = name.replace("bench:", "").replace(":", "-");
    await mkdir(RESULTS, { recursive: true });
    await writeFile(join(RESULTS, `${keptAs}.md`), markdown);
  }
  if (report.wrong !== undefined) throw new Error(report.wrong);
}

/** Describes the machine and the time of a run. */
function describeMachine(on: string): string[] {
  return [
    new Date().toISOString(),
    cpus()[0]?.model ?? "unknown",
    `${cpus().length} cores`,
    `${Math.round(totalmem() / 1e9)} GB`,
    // Of the kernel's release, only the major and minor version matter for a measurement.
    `${process.platform} ${/^\d+(\.\d+)?/.exec(release())?.[0] ?? ""}`.trim(),
    ...[`Node ${process.version}`, on],
  ];
}
