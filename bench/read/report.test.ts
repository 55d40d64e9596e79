import { expect, it } from "vitest";
import { workloadBlocks } from "./report.ts";

it("counts Redis's CPU among that of all processes", () => {
  const side = "fastify-redis";
  const figures = { "cpu side": 1, "cpu database": 2, "cpu Redis": 4, "cpu load": 8 };
  const blocks = workloadBlocks([{ side, load: "polls", figures }], "polls", [side]);
  expect(blocks.flat().at(-1)).toMatch(/ 4\.000 .* 15\.000 /);
});
