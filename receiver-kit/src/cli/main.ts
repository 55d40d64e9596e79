#!/usr/bin/env node
import { runCommand } from "./run-command.ts";

const print = (line: string) => process.stdout.write(`${line}\n`);

runCommand(process.argv.slice(2), process.env, print).then((exitCode) => {
  process.exitCode = exitCode;
});
