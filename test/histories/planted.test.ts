import { beforeAll, expect, it } from "vitest";
import { useFolder } from "../harness/use-started.ts";
import { BUGS } from "./harness-bugs.ts";
import { buildPrograms } from "./harness-go.ts";
import { startProduct } from "./harness-product.ts";
import { tellStory } from "./harness-story.ts";

const MINUTE = 60_000;
const MINUTES = 1;
const SEED = 5;
/** Longer than a lease, and than the first retry of an attempt of a stopped dispatcher. */
const DELIVERED_MS = 90_000;

const programs = useFolder("planted");
beforeAll(() => buildPrograms(programs), 10 * MINUTE);

const folders = BUGS.map((bug, place) => [bug.name, bug, useFolder(`planted-${place}`)] as const);

it.each(folders)(
  "the histories find this bug: %s",
  async (_, bug, folder) => {
    const product = await startProduct(folder, programs, bug);
    try {
      const { mistakes } = await tellStory(product, programs, {
        ...{ minutes: MINUTES, seed: SEED, deliveredMs: DELIVERED_MS },
      });
      process.stdout.write(`${bug.name}:\n  ${mistakes.join("\n  ")}\n`);
      expect(mistakes.some((mistake) => mistake.startsWith(bug.rule))).toBe(true);
    } finally {
      await product.stop();
    }
  },
  8 * MINUTE,
);
