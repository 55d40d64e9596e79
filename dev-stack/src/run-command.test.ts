import { expect, it } from "vitest";
import { runCommand } from "./run-command.ts";

const node = (script: string) => ["-e", script] as const;

it("collects what a program says, its status, and the lines of its third pipe", async () => {
  const status: string[] = [];
  const script =
    "process.stdin.pipe(process.stdout); console.error(process.env.EXTRA); fs.writeSync(3, 'half\\n'); process.exitCode = 3";
  const outcome = await runCommand(process.execPath, node(script), {
    input: "fed\n",
    variables: { EXTRA: "added" },
    onStatusLine: (line) => status.push(line),
  });
  expect(outcome.status).toBe(3);
  expect(outcome.lines.toSorted()).toEqual(["added", "fed"]);
  expect(status).toEqual(["half"]);
});

it("tells of a program that cannot be started, and kills a silent one", async () => {
  expect((await runCommand("no-such-program", [])).lines[0]).toMatch(/ENOENT/);
  const silent = await runCommand(process.execPath, node("setInterval(() => {}, 1000)"), {
    silenceMilliseconds: 100,
  });
  expect(silent).toEqual({ status: undefined, lines: ["it said nothing for 0.1 s"] });
});
