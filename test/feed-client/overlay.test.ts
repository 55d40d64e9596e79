import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cacheFolder } from "../../dev-stack/src/cache-folder.ts";
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
/** Resolves when the alert has come in. The bar of its time moves until the end. */
const HAS_COME_IN = `Promise.all(
  document.querySelector(".alert").getAnimations({ subtree: true })
    .filter(({ animationName }) => animationName !== "time")
    .map(({ finished }) => finished),
)`;

const stack = useTestStack();
let browser: Browser;
let screenshots: string;
beforeAll(async () => {
  const program = await findChromium(process.env, cacheFolder(process.env), createProgress());
  browser = await chromium.launch({ executablePath: program });
  screenshots = process.env.SCREENSHOTS || mkdtempSync(join(tmpdir(), "activity-overlay-"));
  mkdirSync(screenshots, { recursive: true });
}, 600_000);
afterAll(() => browser.close());

type Overlay = {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly problems: string[];
};

/** Opens the overlay as OBS does. Its clock stands still, see `endAlert`. `problems` collects the page's errors. */
async function openOverlay(hub: Hub, query = "", context?: BrowserContext): Promise<Overlay> {
  const used = context ?? (await browser.newContext({ viewport: SOURCE }));
  if (context === undefined) {
    await used.clock.install();
    await used.clock.pauseAt(Date.now() + 1_000);
  }
  const page = await used.newPage();
  const problems: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(error.message));
  const listening = page.waitForResponse((response) => response.url().includes("/events"));
  await page.goto(`${hub.overlayUrl}${query}`);
  await listening;
  return { page, context: used, problems };
}

/** Waits for a record's alert. Returns its text once its animation has ended. */
async function alertOf(page: Page, id: string): Promise<string> {
  const alert = page.locator(`.alert[data-id="${id}"]:not([hidden])`);
  await alert.waitFor({ timeout: 60_000 });
  await page.evaluate(HAS_COME_IN);
  return (await alert.innerText()).replaceAll(/\s+/g, " ");
}

/** Moves the page's clock to the end of the alert that is shown, so that the next one comes. */
async function endAlert(page: Page): Promise<void> {
  const shownId = () => page.evaluate(`document.querySelector(".alert:not([hidden])")?.dataset.id`);
  const id = await shownId();
  while ((await shownId()) === id) await page.clock.runFor(1_000);
}

const startHubOf = (apiKey: string) =>
  startHub({ ...connectionTo(stack, apiKey), port: 0, token: createToken() });

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
    const { accountId, apiKey } = await createReader(stack);
    const hub = await startHubOf(apiKey);
    const dark = await openOverlay(hub);
    const light = await openOverlay(hub, "&theme=light");
    const donation = await createPaidDonation(stack, accountId, {
      ...{ donorName: "Ada Lovelace", amountCents: 1_500n },
      message: "Congratulations on the new record! For the next game, and a coffee for the mods.",
    });
    const words = /DONATION Ada Lovelace donated €15.00 Congratulations/;
    const stored: [string, RegExp][] = [[`don_${donation.recordId}`, words]];
    for (const [event, text] of EVENTS) {
      stored.push([`evt_${await createPlatformEvent(stack, accountId, event)}`, text]);
    }
    const watch = async ({ page }: Overlay, theme: string) => {
      for (const [id, text] of stored) {
        expect(await alertOf(page, id)).toMatch(text);
        const type = await page.locator(".alert").getAttribute("data-type");
        const path = join(screenshots, `${type}-${theme}.png`);
        await page.screenshot({ path, omitBackground: true });
        await endAlert(page);
      }
    };
    await Promise.all([watch(dark, "dark"), watch(light, "light")]);
    const transparent = "getComputedStyle(document.body).backgroundColor";
    expect(await dark.page.evaluate(transparent)).toBe("rgba(0, 0, 0, 0)");
    expect([...dark.problems, ...light.problems]).toEqual([]);
    for (const { context } of [dark, light]) await context.close();
    await hub.close();
  }, 120_000);

  it("shows amounts by ISO 4217, and of an import only the last hour's donations", async () => {
    const { accountId, apiKey } = await createReader(stack);
    const hub = await startHubOf(apiKey);
    const { page, context, problems } = await openOverlay(hub);
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
    expect(problems).toEqual([]);
    await context.close();
    await hub.close();
  }, 120_000);

  it("shows interrupted alerts again after a reload, then those that came meanwhile", async () => {
    const { accountId, apiKey } = await createReader(stack);
    const hub = await startHubOf(apiKey);
    const first = await openOverlay(hub);
    const ids: string[] = [];
    const donate = async (donorName: string) =>
      ids.push(`don_${(await createPaidDonation(stack, accountId, { donorName })).recordId}`);
    await donate("Before");
    await donate("Queued");
    await alertOf(first.page, ids[0] ?? "");
    await first.page.close();
    await donate("Meanwhile");
    const again = await openOverlay(hub, "", first.context);
    for (const id of ids) {
      await alertOf(again.page, id);
      await endAlert(again.page);
    }
    await donate("After");
    await again.page.close();
    const third = await openOverlay(hub, "", first.context);
    expect(await alertOf(third.page, ids[3] ?? "")).toContain("After");
    await first.context.close();
    await hub.close();
  }, 120_000);

  it("keeps its layout with long and hostile texts, and hides donations below min", async () => {
    const { accountId, apiKey } = await createReader(stack);
    const hub = await startHubOf(apiKey);
    const overlay = await openOverlay(hub, "&min=500");
    await createPaidDonation(stack, accountId, { donorName: "Small", amountCents: 499n });
    const hostile = "<img src=x onerror=document.title='taken'>";
    const texts = [
      { donorName: LONG_NAME.repeat(3), message: LONG_MESSAGE, amountCents: 123_456_789_00n },
      { donorName: hostile, message: `${hostile} 💜🎉`, amountCents: 500n },
    ];
    for (const fields of texts) {
      const { recordId } = await createPaidDonation(stack, accountId, fields);
      const text = await alertOf(overlay.page, `don_${recordId}`);
      expect(text).toContain(fields.message.slice(0, 20));
      const path = join(screenshots, `text-${fields.amountCents}.png`);
      await overlay.page.screenshot({ path, omitBackground: true });
      const box = await overlay.page.locator(".alert").boundingBox();
      const { x, y, width } = box ?? expect.unreachable("the alert is hidden");
      expect(x).toBeGreaterThanOrEqual(0);
      expect(y).toBeGreaterThanOrEqual(0);
      expect(x + width).toBeLessThanOrEqual(SOURCE.width);
      await endAlert(overlay.page);
    }
    expect(await overlay.page.title()).toBe("Alerts");
    expect(await overlay.page.locator("img").count()).toBe(0);
    expect(overlay.problems).toEqual([]);
    await overlay.context.close();
    await hub.close();
  }, 120_000);
});
