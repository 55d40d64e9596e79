import { beforeAll, expect, it } from "vitest";
import { useFolder } from "../harness/use-started.ts";
import { BUGS, type HistoryBug } from "./harness-bugs.ts";
import { buildChecker } from "./harness-go.ts";
import { startProduct } from "./harness-product.ts";
import { tellStory } from "./harness-story.ts";

const MINUTE = 60_000;
/** `deliveredMs` covers a lease, and the first retry of an attempt that a stopped dispatcher had in flight. */
const STORY = { minutes: 1, seed: 5, deliveredMs: 90_000 };
const TIMEOUT_MS = 8 * MINUTE;

const checker = useFolder("planted");
beforeAll(() => buildChecker(checker), 10 * MINUTE);

/** Tells the story of a product with a bug, or without one. Returns the violations of rules. */
async function mistakesOf(folder: string, bug?: HistoryBug): Promise<readonly string[]> {
  const product = await startProduct(folder, bug);
  try {
    const { mistakes } = await tellStory(product, checker, STORY);
    process.stdout.write(`${bug?.name ?? "no bug"}:\n  ${mistakes.join("\n  ")}\n`);
    return mistakes;
  } finally {
    await product.stop();
  }
}

const sound = useFolder("planted-nothing");
it(
  "the histories find nothing in the same story without a bug, so each bug below causes what they find",
  async () => {
    expect(await mistakesOf(sound)).toEqual([]);
  },
  TIMEOUT_MS,
);

const folders = BUGS.map((bug, place) => [bug.name, bug, useFolder(`planted-${place}`)] as const);
it.each(folders)(
  "the histories find this bug: %s",
  async (_, bug, folder) => {
    const mistakes = await mistakesOf(folder, bug);
    expect(mistakes.some((mistake) => mistake.startsWith(bug.rule))).toBe(true);
  },
  TIMEOUT_MS,
);
