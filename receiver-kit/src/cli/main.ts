#!/usr/bin/env node
import { runCommand } from "./run-command.ts";

const print = (line: string) => process.stdout.write(`${line}\n`);

process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  // In `receiver-kit send URL | head`, `head` closes the pipe early. That is no failure.
  if (error.code === "EPIPE") process.exit();
  process.stderr.write(`receiver-kit: the output cannot be written: ${error.message}\n`);
  process.exit(1);
});

runCommand(process.argv.slice(2), process.env, print).then((exitCode) => {
  process.exitCode = exitCode;
});
