#!/usr/bin/env node
import { askHidden } from "./ask.ts";
import { runCommand } from "./run-command.ts";

const { stdin, stdout, stderr } = process;
const stopped = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => stopped.abort());

// `activity-feed follow | head` closes the pipe early.
stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit();
});

process.exitCode = await runCommand(process.argv.slice(2), {
  env: process.env,
  print: (line) => new Promise((resolve) => stdout.write(`${line}\n`, () => resolve())),
  tell: (line) => stderr.write(`${line}\n`),
  ask: stdin.isTTY ? askHidden : undefined,
  signal: stopped.signal,
});
