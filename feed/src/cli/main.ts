#!/usr/bin/env node
import { askHidden } from "./ask.ts";
import { runCommand } from "./run-command.ts";

const { stdin, stdout, stderr } = process;
const stopped = new AbortController();
const stop = () => stopped.abort();
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, stop);

// The hub must not end with the program that reads its messages.
stderr.on("error", () => undefined);
stdout.on("error", (error: NodeJS.ErrnoException) => {
  // `activity-feed follow | head` closes the pipe early.
  if (error.code === "EPIPE") process.exit();
  // For example a full disk: `activity-feed export > FILE`.
  stderr.write(`activity-feed: the output cannot be written: ${error.message}\n`);
  process.exit(1);
});

process.exitCode = await runCommand(process.argv.slice(2), {
  env: process.env,
  print: (line) => new Promise((resolve) => stdout.write(`${line}\n`, () => resolve())),
  tell: (line) => stderr.write(`${line}\n`),
  ask: stdin.isTTY ? (question) => askHidden(question, stop, stopped.signal) : undefined,
  signal: stopped.signal,
});
