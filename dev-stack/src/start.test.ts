import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { useFolder } from "../../test/harness/use-started.ts";

const folder = useFolder("start-file");
const START = join(import.meta.dirname, "start.mjs");

function run(...args: string[]) {
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  return { status, stderr };
}

it("says that Node is too old where it cannot run TypeScript", () => {
  const sentence = `This is Node ${process.version}, and npm installed no other one for this machine: install Node 24.\n`;
  expect(run("--no-strip-types", START)).toEqual({ status: 1, stderr: sentence });
});

it("says how to install the packages that npm omits in production", () => {
  copyFileSync(START, join(folder, "start.mjs"));
  writeFileSync(join(folder, "run.ts"), 'import "omitted";\n');
  const { status, stderr } = run(join(folder, "start.mjs"));
  expect(stderr).toMatch(/^Cannot find package 'omitted' .*: run npm install --include=dev .*\n$/);
  expect(status).toBe(1);
});

it("survives that its output cannot be written", async () => {
  // The probe ends a crash with 7, because a wrong setting ends with 1. It also prints, as a full start does.
  const probe = `data:text/javascript,process
    .on("uncaughtException", () => process.exit(7))
    .once("beforeExit", () => process.stdout.write("text"))`;
  const env = { ...process.env, PORT: "wrong" };
  const child = spawn(process.execPath, ["--import", probe, START], { env });
  for (const stream of [child.stdout, child.stderr]) stream.destroy();
  expect(await once(child, "exit")).toEqual([1, null]);
});
