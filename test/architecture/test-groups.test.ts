import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import receiverKit from "../../receiver-kit/vitest.config.ts";
import config from "../../vitest.config.ts";
import { ROOT } from "./import-rule.ts";

type Project = {
  readonly name: string;
  readonly maxWorkers?: number;
  readonly sequence?: { readonly groupOrder: number };
};

const { projects = [] } = config.test ?? {};
// To vitest a project may be a function too; of ours the kit's is a path, all others are written out.
const written = projects.filter((each) => each !== "receiver-kit");
const PROJECTS = ([receiverKit, ...written] as { test: Project }[]).map(({ test }) => test);
/** The projects that a command runs together. */
const TOGETHER = ["package.json", "tools/test-all.ts"]
  .flatMap((file) => readFileSync(join(ROOT, file), "utf8").split("\n"))
  .map((line) => ({
    names: [...line.matchAll(/--project ([\w-]+)/g)].map(([, name = ""]) => name),
  }))
  .filter(({ names }) => names.length > 1);

it("finds the commands that run several projects", () => {
  expect(TOGETHER.length).toBeGreaterThanOrEqual(3);
});

it.each(TOGETHER)(
  "vitest runs $names together on any number of cores: each group has one number of workers",
  ({ names }) => {
    const workers = new Map<number, number>();
    for (const name of names) {
      const project = PROJECTS.find((each) => each.name === name);
      const { maxWorkers, sequence: { groupOrder } = { groupOrder: 0 } } = project ?? {};
      // Without one it depends on the cores.
      if (maxWorkers === undefined) throw new Error(`${name} has no maxWorkers`);
      expect(maxWorkers, name).toBe(workers.get(groupOrder) ?? maxWorkers);
      workers.set(groupOrder, maxWorkers);
    }
  },
);
