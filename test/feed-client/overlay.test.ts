import { join } from "node:path";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { findChromium } from "../../dev-stack/src/find-chromium.ts";
import { createProgress } from "../../dev-stack/src/progress.ts";
import { createToken, type Hub, startHub } from "../../feed/src/hub/index.ts";
import {
  createPaidDonation,
  createPlatformEvent,
  createReader,
  importDonations,
} from "../harness/builders.ts";
import { useTestStack } from "../harness/stack.ts";
import { connectionTo } from "./harness-feed.ts";

/** The size of a browser source in OBS. */
const SOURCE = { width: 640, height: 300 };
const LONG_NAME = "Wolfeschlegelsteinhausenbergerdorff the Very Long 夢子 عمر";
const LONG_MESSAGE = `${"W".repeat(300)} ${"No words, only thanks for all the evenings. ".repeat(20)}`;
/** Resolves when the alert has come in. It ignores the animation `time`, because its bar moves until the alert ends. */
const HAS_COME_IN = `Promise.all(
  document.querySelector(".alert").getAnimations({ subtree: true })
    .filter(({ animationName }) => animationName !== "time")
    .map(({ finished }) => finished),
)`;

const stack = useTestStack();
let browser: Browser;
beforeAll(async () => {
  const program = await findChromium({ env: process.env, progress: createProgress() });
  browser = await chromium.launch({ executablePath: program });
}, 600_000);
afterAll(() => browser.close());

let accountId: string;
let hub: Hub;
/** The errors of a test's pages. */
const problems: string[] = [];
beforeEach(async () => {
  const reader = await createReader(stack);
  ({ accountId } = reader);
  hub = await startHub({ ...connectionTo(stack, reader.apiKey), port: 0, token: createToken() });
});
afterEach(async () => {
  for (const context of browser.contexts()) await context.close();
  await hub.close();
  expect(problems.splice(0)).toEqual([]);
});

/** Opens the overlay as OBS does. Its clock stands still, see `endAlert`. */
async function openOverlay(query = "", context?: BrowserContext): Promise<Page> {
  const used = context ?? (await browser.newContext({ viewport: SOURCE }));
  if (context === undefined) {
    await used.clock.install();
    await used.clock.pauseAt(Date.now() + 1_000);
  }
  const page = await used.newPage();
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(error.message));
  const listening = page.waitForResponse((response) => response.url().includes("/events"));
  await page.goto(`${hub.overlayUrl}${query}`);
  await listening;
  return page;
}

/** Waits for a record's alert. Returns its text once its animation has ended. */
async function alertOf(page: Page, id: string): Promise<string> {
  const alert = page.locator(`.alert[data-id="${id}"]:not([hidden])`);
  await alert.waitFor({ timeout: 60_000 });
  await page.evaluate(HAS_COME_IN);
  return (await alert.innerText()).replaceAll(/\s+/g, " ");
}

/** With SCREENSHOTS, the path of a folder, takes a picture of the page into it. */
async function takeScreenshot(page: Page, name: string): Promise<void> {
  const { SCREENSHOTS: folder } = process.env;
  if (folder) await page.screenshot({ path: join(folder, `${name}.png`), omitBackground: true });
}

/** Moves the page's clock to the end of the alert that is shown, so that the next one comes. */
async function endAlert(page: Page): Promise<void> {
  const shownId = () => page.evaluate(`document.querySelector(".alert:not([hidden])")?.dataset.id`);
  const id = await shownId();
  while ((await shownId()) === id) await page.clock.runFor(1_000);
}

type Event = Parameters<typeof createPlatformEvent>[2];
/** One platform event of each type, with the text of its alert. */
const EVENTS: readonly (readonly [Event, RegExp])[] = [
  [{ actorName: "nightowl_77" }, /NEW FOLLOWER nightowl_77 is now following/],
  [
    {
      actorName: "Björn",
      message: "Seven!",
      kind: { case: "subscription", value: { months: 7n } },
    },
    /SUBSCRIPTION Björn subscribed 7 months Seven!/,
  ],
  [
    { actorName: "Priya", kind: { case: "giftsub", value: { subscriptions: 20n } } },
    /GIFT Priya gifted to the community 20 subs/,
  ],
  [
    { actorName: "Max Power", kind: { case: "cheer", value: { amount: 2_500n } } },
    /CHEER Max Power cheered 2,500 bits/,
  ],
  [
    { actorName: "Ōtani", kind: { case: "raid", value: { viewers: 321n } } },
    /RAID Ōtani is raiding 321 viewers/,
  ],
];

describe("the overlay", () => {
  it("shows each type of record with its own words, one by one, in both themes", async () => {
    const dark = await openOverlay();
    const light = await openOverlay("&theme=light");
    const donation = await createPaidDonation(stack, accountId, {
      ...{ donorName: "Ada Lovelace", amountCents: 1_500n },
      message: "Congratulations on the new record! For the next game, and a coffee for the mods.",
    });
    const words = /DONATION Ada Lovelace donated €15.00 Congratulations/;
    const stored: [string, RegExp][] = [[`don_${donation.recordId}`, words]];
    for (const [event, text] of EVENTS) {
      stored.push([`evt_${await createPlatformEvent(stack, accountId, event)}`, text]);
    }
    const watch = async (page: Page, theme: string) => {
      for (const [id, text] of stored) {
        expect(await alertOf(page, id)).toMatch(text);
        const type = await page.locator(".alert").getAttribute("data-type");
        await takeScreenshot(page, `${type}-${theme}`);
        await endAlert(page);
      }
    };
    await Promise.all([watch(dark, "dark"), watch(light, "light")]);
    const transparent = "getComputedStyle(document.body).backgroundColor";
    expect(await dark.evaluate(transparent)).toBe("rgba(0, 0, 0, 0)");
    // OBS adds the text of its field "Custom CSS" in the same way.
    await dark.addStyleTag({ content: "body { background-color: rgb(1, 2, 3) !important }" });
    expect(await dark.evaluate(transparent)).toBe("rgb(1, 2, 3)");
  }, 120_000);

  it("shows amounts by ISO 4217, and of an import only the last hour's donations", async () => {
    const page = await openOverlay();
    const hours = (ago: number) => timestampFromMs(Date.now() - ago * 3_600_000);
    await importDonations(stack, accountId, [
      { externalId: "old", donorName: "Long ago", donatedAt: hours(2) },
      { externalId: "new", donorName: "Just now", donatedAt: hours(0.5) },
    ]);
    const message = { amountCents: 500_000n, currency: "huf" };
    const kind = { case: "paidChatMessage" as const, value: message };
    const id = await createPlatformEvent(stack, accountId, { actorName: "Éva", kind });
    const name = page.locator(".alert:not([hidden]) .name");
    await name.waitFor();
    expect(await name.innerText()).toBe("Just now");
    await endAlert(page);
    expect(await alertOf(page, `evt_${id}`)).toContain("Éva donated HUF 5,000.00");
    await endAlert(page);
    const largest = { amountCents: BigInt(Number.MAX_SAFE_INTEGER) };
    const { recordId } = await createPaidDonation(stack, accountId, largest);
    expect(await alertOf(page, `don_${recordId}`)).toContain("€90,071,992,547,409.91");
  }, 120_000);

  it("shows interrupted alerts again after a reload, then those that came meanwhile", async () => {
    const first = await openOverlay();
    const ids: string[] = [];
    const donate = async (donorName: string) =>
      ids.push(`don_${(await createPaidDonation(stack, accountId, { donorName })).recordId}`);
    await donate("Before");
    await donate("Queued");
    await alertOf(first, ids[0] ?? "");
    await first.close();
    await donate("Meanwhile");
    const again = await openOverlay("", first.context());
    for (const id of ids) {
      await alertOf(again, id);
      await endAlert(again);
    }
    await donate("After");
    await again.close();
    const third = await openOverlay("", first.context());
    expect(await alertOf(third, ids[3] ?? "")).toContain("After");
  }, 120_000);

  it("keeps its layout with long and hostile texts, and hides donations below min", async () => {
    const page = await openOverlay("&min=500");
    await createPaidDonation(stack, accountId, { donorName: "Small", amountCents: 499n });
    const hostile = "<img src=x onerror=document.title='taken'>";
    const texts = [
      { donorName: LONG_NAME.repeat(3), message: LONG_MESSAGE, amountCents: 123_456_789_00n },
      { donorName: hostile, message: `${hostile} 💜🎉`, amountCents: 500n },
    ];
    for (const fields of texts) {
      const { recordId } = await createPaidDonation(stack, accountId, fields);
      const text = await alertOf(page, `don_${recordId}`);
      expect(text).toContain(fields.message.slice(0, 20));
      await takeScreenshot(page, `text-${fields.amountCents}`);
      const box = await page.locator(".alert").boundingBox();
      const { x, y, width } = box ?? expect.unreachable("the alert is hidden");
      expect(x).toBeGreaterThanOrEqual(0);
      expect(y).toBeGreaterThanOrEqual(0);
      expect(x + width).toBeLessThanOrEqual(SOURCE.width);
      await endAlert(page);
    }
    expect(await page.title()).toBe("Alerts");
    expect(await page.locator("img").count()).toBe(0);
    await page.close();
    const largest = { amountCents: BigInt(Number.MAX_SAFE_INTEGER) };
    const other = await openOverlay(`&min=${largest.amountCents}`);
    await createPaidDonation(stack, accountId, { donorName: "Small" });
    const invisible = "\u3164\u200b\u00ad\u2800";
    const fields = { ...largest, donorName: invisible, message: invisible };
    const { recordId } = await createPaidDonation(stack, accountId, fields);
    expect(await alertOf(other, `don_${recordId}`)).toContain("Someone donated");
    expect(await other.locator(".message").isVisible()).toBe(false);
  }, 120_000);
});
