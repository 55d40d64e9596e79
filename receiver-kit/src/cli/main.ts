#!/usr/bin/env node
import { runCommand } from "./run-command.ts";

const print = (line: string) => process.stdout.write(`${line}\n`);

// `receiver-kit send URL | head` closes the pipe early.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit();
});

runCommand(process.argv.slice(2), process.env, print).then((exitCode) => {
  process.exitCode = exitCode;
});
