import { mkdir, writeFile } from "node:fs/promises";
import { cpus, release, totalmem } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { BenchSpec } from "../run/settings.ts";
import { type Goal, goalTable } from "./goal.ts";

/** What a bench tells. */
export type Report = {
  /** What the database calls itself, and what else it ran on. */
  readonly on: string;
  /** Lines that say how it was measured. */
  readonly about: readonly string[];
  /** Tables and what is written between them, as lines; those without any are left out. */
  readonly blocks: readonly (readonly string[])[];
  readonly goals?: readonly Goal[];
  /** Everything measured, as it is kept. */
  readonly figures: object;
  /** Why the run fails for all that. */
  readonly wrong?: string | undefined;
};

/** Where results are kept. */
export const RESULTS = fileURLToPath(new URL("../results", import.meta.url));

/** Prints a report; keeps that of a whole run as JSON and Markdown. */
export async function publish<Settings extends object>(
  { name, full }: BenchSpec<Settings>,
  settings: Settings,
  report: Report,
): Promise<void> {
  const machine = describeMachine(report.on);
  const head = [`${Object.values(machine).join(", ")}.`, ...report.about];
  const blocks = [[`# ${name}`], head, ...report.blocks, goalTable(report.goals ?? [])];
  const filled = blocks.filter(({ length }) => length > 0).map((lines) => lines.join("\n"));
  const markdown = `${filled.join("\n\n")}\n`;
  process.stdout.write(`\n${markdown}`);
  if (JSON.stringify(settings) === JSON.stringify(full)) {
    const keptAs = name.replace("bench:", "").replace(":", "-");
    await mkdir(RESULTS, { recursive: true });
    const json = JSON.stringify({ machine, settings, ...report.figures }, undefined, 2);
    await writeFile(join(RESULTS, `${keptAs}.json`), `${json}\n`);
    await writeFile(join(RESULTS, `${keptAs}.md`), markdown);
  }
  if (report.wrong !== undefined) throw new Error(report.wrong);
}

/** Describes where and on what a run was measured. */
function describeMachine(on: string) {
  return {
    date: new Date().toISOString(),
    cpu: cpus()[0]?.model ?? "unknown",
    cores: `${cpus().length} cores`,
    memory: `${Math.round(totalmem() / 1e9)} GB`,
    // Of a kernel's name only the version says something of a measurement.
    system: `${process.platform} ${/^\d+(\.\d+)?/.exec(release())?.[0] ?? ""}`.trim(),
    node: `Node ${process.version}`,
    on,
  };
}
