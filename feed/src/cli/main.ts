#!/usr/bin/env node
import { fstatSync, fsyncSync, ftruncateSync, writeFileSync } from "node:fs";
import { askHidden } from "./ask.ts";
import { INTERRUPTED, runCommand } from "./run-command.ts";

/** How long the output's reader may take after an interrupt. */
const READ_WITHIN_MS = 1_000;

const { stdin, stdout, stderr } = process;
const stopped = new AbortController();
const stop = () => {
  stopped.abort();
  // Ends the process only if output is unread, because `print` may wait for a reader for ever. Other work, such as
  // saving a checkpoint, may finish.
  const endUnread = () => stdout.writableLength > 0 && process.exit(INTERRUPTED);
  setTimeout(endUnread, READ_WITHIN_MS).unref();
};
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, stop);

// Errors of stderr are ignored: the hub must not end with the program that reads its messages.
stderr.on("error", () => undefined);
stdout.on("error", (error: NodeJS.ErrnoException) => {
  // In `activity-feed follow | head`, `head` closes the pipe early. That is no failure.
  if (error.code === "EPIPE") process.exit();
  stderr.write(`activity-feed: the output cannot be written: ${error.message}\n`);
  process.exit(1);
});

const isFile = isRegularFile(stdout.fd);

process.exitCode = await runCommand(process.argv.slice(2), {
  env: process.env,
  print,
  isTerminal: stdout.isTTY === true,
  sync: () => isFile && fsyncSync(stdout.fd),
  tell: (line) => stderr.write(`${line}\n`),
  ask: stdin.isTTY ? (question) => askHidden(question, stop, stopped.signal) : undefined,
  signal: stopped.signal,
});

/** Resolves only once the line is written, so that no checkpoint is saved after a lost line. */
async function print(line: string): Promise<void> {
  if (isFile) return appendWhole(stdout.fd, `${line}\n`);
  return new Promise((resolve) => {
    stdout.write(`${line}\n`, (error) => {
      // After an error the listener above ends the process.
      if (!error) resolve();
    });
  });
}

/** Appends a text whole or not at all. On a full disk, `stdout.write` may write a part of it and report success. */
function appendWhole(fd: number, text: string): void {
  const { size } = fstatSync(fd);
  try {
    writeFileSync(fd, text);
  } catch (error) {
    // Removes the cut line, because with `>>` the next run would continue it.
    ftruncateSync(fd, size);
    throw error;
  }
}

/** Tells whether an output is a regular file. On Windows `fstat` fails for some outputs that are none. */
function isRegularFile(fd: number): boolean {
  try {
    return fstatSync(fd).isFile();
  } catch {
    return false;
  }
}
