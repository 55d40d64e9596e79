import { afterAll, beforeAll, expect, it } from "vitest";
import { useFolder } from "../harness/use-started.ts";
import { buildChecker, findFaults, type Operation } from "./harness-go.ts";
import { type Product, startProduct } from "./harness-product.ts";
import { tellStory } from "./harness-story.ts";

const MINUTE = 60_000;
const MINUTES = Number(process.env.MINUTES ?? 10);
const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);
/** From this length on, the test also samples what processes use, which must not grow. */
const IS_SOAK = MINUTES >= 30;

const folder = useFolder("histories");
let product: Product;
beforeAll(async () => {
  await buildChecker(folder);
  product = await startProduct(folder);
}, 10 * MINUTE);
afterAll(() => product?.stop(), MINUTE);

it(
  `${MINUTES} minutes of faults from seed ${SEED}, one for good: feeds are linearizable, and nothing acknowledged is lost`,
  async () => {
    const story = await tellStory(product, folder, {
      ...{ minutes: MINUTES, seed: SEED, isSoak: IS_SOAK },
    });
    const { history, faults, uses } = story;
    const trace = `seed ${SEED}:\n${faults.join("\n")}`;
    const told = [
      `seed ${SEED}: ${history.length} operations, ${faults.length} faults`,
      ...uses.map(
        ({ name, first, last, perHour }) =>
          `${name}: ${first} → ${last}, ${(100 * perHour).toFixed(0)} % an hour`,
      ),
    ];
    process.stdout.write(`${told.join("\n")}\n`);
    expect(story.mistakes, trace).toEqual([]);
    expect(await findFaults(folder, forged(history))).toHaveLength(1);
    expect(uses.filter(({ grows }) => grows)).toEqual([]);
  },
  (MINUTES + 20) * MINUTE,
);

/** Returns a history whose last page lacks its oldest record. The checker must find this mistake. */
function forged(history: readonly Operation[]): Operation[] {
  const last = history.findLast(({ page = [] }) => page.length > 1);
  return history.map((one) =>
    one === last ? { ...one, page: one.page?.slice(0, -1) ?? [] } : one,
  );
}
