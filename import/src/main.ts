#!/usr/bin/env node
import { resolve } from "node:path";
import { openOutput } from "@activity/runtime/process-output";
import { type Columns, hasUtcDates, recognizeColumns } from "./columns.ts";
import { createCoreClient } from "./core-client.ts";
import { readCoreConfig } from "./core-config.ts";
import { type CsvFile, openCsvFile } from "./csv-file.ts";
import { escapeControls } from "./escape-controls.ts";
import { readAccountByName } from "./find-account.ts";
import { HELP } from "./help.ts";
import { ImportError } from "./import-error.ts";
import { importFile } from "./import-file.ts";
import { createImportProgress } from "./import-progress.ts";
import { createImportReport } from "./import-report.ts";
import { readLocalCore } from "./local-core.ts";
import { type ImportOptions, parseOptions } from "./options.ts";
import { checkRefusedPath, createRefusedFile, findLineColumn } from "./refused-file.ts";
import { createRowFilter, type RowFilter } from "./row-filter.ts";
import { summaryText } from "./summary.ts";
import { createTimeZone } from "./time-zone.ts";

const ExitCode = { AllStored: 0, Failed: 1, SomeRefused: 2 } as const;

// A full disk or a closed pipe, as of `| head`, must not end an import between two batches.
openOutput(process.stderr);
openOutput(process.stdout);

process.exitCode = await main(process.argv.slice(2), process.env);

/** Imports the file that the command line names, and returns the exit code. */
async function main(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  try {
    const options = parseOptions(argv);
    if (options !== undefined) return await runImport(options, env);
    process.stdout.write(HELP);
    return ExitCode.AllStored;
  } catch (error) {
    if (!(error instanceof ImportError)) throw error;
    process.stderr.write(escapeControls(`${error.message}\n`));
    return ExitCode.Failed;
  }
}

async function runImport(options: ImportOptions, env: NodeJS.ProcessEnv): Promise<number> {
  // npm runs scripts in the project's folder. INIT_CWD holds the person's own folder.
  const inFolder = (path: string) => resolve(env.INIT_CWD ?? "", path);
  const file = await openCsvFile(inFolder(options.path));
  const columns = recognizeColumns(file.header, options.columns);
  const filter = createRowFilter(file.header, options.only);
  const isUtc = hasUtcDates(file.header, columns);
  const refusedPath = options.refusedPath && inFolder(options.refusedPath);
  if (refusedPath !== undefined) await checkRefusedPath(refusedPath);
  const core = createCoreClient(readCoreConfig(env, await readLocalCore(env)));
  const account = await readAccountByName(core, options.account);
  process.stderr.write(escapeControls(openingText(account.username, file, columns, filter)));
  if (isUtc && options.timeZone !== undefined) {
    process.stderr.write("--timezone is not used: the header says that the dates are in UTC.\n");
  }

  const progress = createImportProgress(process.stderr, file.sizeBytes, () => performance.now());
  const report = createImportReport(progress);
  const refusedFile = createRefusedFile(file, refusedPath);
  const startedMs = performance.now();
  const failures: unknown[] = [];
  const fail = (error: unknown) => void failures.push(error);
  await importFile({
    core,
    opening: { accountId: account.id, platform: options.platform },
    file,
    rules: {
      columns,
      width: file.header.length,
      line: findLineColumn(file.header),
      currency: options.currency,
      dateOrder: options.dateOrder,
      timeZone: isUtc ? createTimeZone("UTC") : options.timeZone,
    },
    filter,
    decimalMark: options.decimalMark,
    refusedFile,
    report,
  }).catch(fail);
  // Closes the file before the summary, because some file systems report a full disk only then.
  await refusedFile.close().catch(fail);
  progress.end();
  const seconds = (performance.now() - startedMs) / 1000;
  process.stdout.write(summaryText(report.counts(), refusedFile.path, seconds));
  if (failures.length > 0) throw failures[0];
  return report.counts().refused > 0 ? ExitCode.SomeRefused : ExitCode.AllStored;
}

/**
 * Lists the role of each used column, and the unused columns. A person can then see a wrong guess, or a status column
 * that no `--only` reads.
 */
function openingText(username: string, file: CsvFile, columns: Columns, filter: RowFilter): string {
  const roles = Object.entries(columns).map(([role, place]) => `${role} = "${file.header[place]}"`);
  const used = new Set([...Object.values(columns), ...filter.places, findLineColumn(file.header)]);
  const unused = file.header.filter((_, place) => !used.has(place)).map((name) => `"${name}"`);
  const unusedText = unused.length > 0 ? `; not used: ${unused.join(", ")}` : "";
  return `Importing ${file.path} for ${username}; columns: ${roles.join(", ")}${unusedText}.\n`;
}
