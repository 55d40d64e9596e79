import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Platform } from "@activity/proto";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cacheFolder } from "../../dev-stack/src/cache-folder.ts";
import { findChromium } from "../../dev-stack/src/find-chromium.ts";
import { createProgress } from "../../dev-stack/src/progress.ts";
import { createToken, type Hub, startHub } from "../../feed/src/hub/index.ts";
import { createPaidDonation, createPlatformEvent, createReader } from "../harness/builders.ts";
import { useTestStack } from "../harness/stack.ts";
import { baseUrlOf } from "./harness-feed.ts";

/** The size of a browser source in OBS. */
const SOURCE = { width: 640, height: 300 };
const LONG_NAME = "Wolfeschlegelsteinhausenbergerdorff the Very Long 夢子 عمر";
const LONG_MESSAGE = `${"W".repeat(300)} ${"No words, only thanks for all the evenings. ".repeat(20)}`;
const SETTLED_MS = 900;

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

/** Opens the overlay as OBS does. `problems` collects the page's errors. */
async function openOverlay(hub: Hub, query = "", context?: BrowserContext): Promise<Overlay> {
  const used = context ?? (await browser.newContext({ viewport: SOURCE }));
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
  await page.waitForTimeout(SETTLED_MS);
  return (await alert.innerText()).replaceAll(/\s+/g, " ");
}

async function startHubOf(apiKey: string): Promise<Hub> {
  const baseUrl = baseUrlOf(stack.gatewayPort);
  // With `since` the hub need not look for the end of the feed, which this test does not cover.
  const since = "2000-01-01T00:00:00Z";
  return startHub({ apiKey, baseUrl, since, port: 0, token: createToken() });
}

/** Stores one record of each type. Returns their ids and the texts of their alerts. */
async function storeEach(accountId: string): Promise<(readonly [string, RegExp])[]> {
  const event = async (fields: Parameters<typeof createPlatformEvent>[2]) =>
    `evt_${await createPlatformEvent(stack, accountId, fields)}`;
  const donation = await createPaidDonation(stack, accountId, {
    ...{ donorName: "Ada Lovelace", amountCents: 1_500n },
    message: "Congratulations on the new record! For the next game, and a coffee for the mods.",
  });
  return [
    [`don_${donation.recordId}`, /DONATION Ada Lovelace donated €15.00 Congratulations/],
    [await event({ actorName: "nightowl_77" }), /NEW FOLLOWER nightowl_77 is now following/],
    [
      await event({
        ...{ actorName: "Björn", message: "Seven months already" },
        kind: { case: "subscription", value: { months: 7n } },
      }),
      /SUBSCRIPTION Björn subscribed 7 months Seven months already/,
    ],
    [
      await event({
        actorName: "Priya",
        kind: { case: "giftsub", value: { subscriptions: 20n } },
      }),
      /GIFT Priya gifted to the community 20 subs/,
    ],
    [
      await event({
        ...{ actorName: "Max Power", message: "Cheer250 what a save" },
        ...{
          platform: Platform.LIVE_PLATFORM_1,
          kind: { case: "cheer", value: { amount: 2_500n } },
        },
      }),
      /CHEER Max Power cheered 2,500 bits/,
    ],
    [
      await event({ actorName: "Ōtani", kind: { case: "raid", value: { viewers: 321n } } }),
      /RAID Ōtani is raiding 321 viewers/,
    ],
  ];
}

describe("the overlay", () => {
  it("shows every kind with words of its own, in both themes, one after the other", async () => {
    const { accountId, apiKey } = await createReader(stack);
    const hub = await startHubOf(apiKey);
    const dark = await openOverlay(hub);
    const light = await openOverlay(hub, "&theme=light");
    const stored = await storeEach(accountId);
    const watch = async ({ page }: Overlay, theme: string) => {
      for (const [id, words] of stored) {
        expect(await alertOf(page, id)).toMatch(words);
        const type = await page.locator(".alert").getAttribute("data-type");
        const path = join(screenshots, `${type}-${theme}.png`);
        await page.screenshot({ path, omitBackground: true });
      }
    };
    await Promise.all([watch(dark, "dark"), watch(light, "light")]);
    const transparent = "getComputedStyle(document.body).backgroundColor";
    expect(await dark.page.evaluate(transparent)).toBe("rgba(0, 0, 0, 0)");
    expect([...dark.problems, ...light.problems]).toEqual([]);
    for (const { context } of [dark, light]) await context.close();
    await hub.close();
  }, 120_000);

  it("shows again what a reload cut off, and then what came meanwhile", async () => {
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
    for (const id of ids) await alertOf(again.page, id);
    await again.page.locator(".alert").waitFor({ state: "hidden" });
    await donate("After");
    await again.page.close();
    const third = await openOverlay(hub, "", first.context);
    expect(await alertOf(third.page, ids[3] ?? "")).toContain("After");
    await first.context.close();
    await hub.close();
  }, 120_000);

  it("keeps its shape with long and hostile text, and leaves out donations below min", async () => {
    const { accountId, apiKey } = await createReader(stack);
    const hub = await startHubOf(apiKey);
    const overlay = await openOverlay(hub, "&min=500");
    const small = { donorName: "Small", amountCents: 499n };
    await createPaidDonation(stack, accountId, small);
    const hostile = "<img src=x onerror=document.title='taken'>";
    const texts = [
      { donorName: LONG_NAME.repeat(3), message: LONG_MESSAGE, amountCents: 123_456_789_00n },
      { donorName: hostile, message: `${hostile} 💜🎉`, amountCents: 500n },
    ];
    for (const fields of texts) {
      const { recordId } = await createPaidDonation(stack, accountId, fields);
      const said = await alertOf(overlay.page, `don_${recordId}`);
      expect(said).toContain(fields.message.slice(0, 20));
      const path = join(screenshots, `text-${fields.amountCents}.png`);
      await overlay.page.screenshot({ path, omitBackground: true });
      const box = await overlay.page.locator(".alert").boundingBox();
      expect(box?.x).toBeGreaterThanOrEqual(0);
      expect(box?.y).toBeGreaterThanOrEqual(0);
      expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(SOURCE.width);
    }
    expect(await overlay.page.title()).toBe("Alerts");
    expect(await overlay.page.locator("img").count()).toBe(0);
    expect(overlay.problems).toEqual([]);
    await overlay.context.close();
    await hub.close();
  }, 120_000);
});
