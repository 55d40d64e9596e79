import { DeliveryService, DeliveryState, EndpointService } from "@activity/proto";
import axe from "axe-core";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { answer } from "../../delivery/harness-receiver-behaviours.ts";
import { countAttemptsNow } from "../../harness/attempt-counting.ts";
import { createAccount, createApiKey, createPaidDonation } from "../../harness/builders.ts";
import { tellOfLink } from "../../harness/notices.ts";
import { useStarted } from "../../harness/use-started.ts";
import { OVERFLOW, startBrowserStack, takeScreenshot } from "./harness-browser.ts";

const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

const SETTLED = { timeout: 90_000, interval: 200 };

const browsers = useStarted(startBrowserStack);
let accountId: string;
let endpointId: string;
let failedId: string;
let recordId: string;
beforeAll(async () => {
  const { stack, delivery } = browsers;
  accountId = await createAccount(stack);
  for (const _ of [1, 2]) await createApiKey(stack, accountId);
  const ada = { donorName: "Ada", message: "For the stream" };
  ({ recordId } = await createPaidDonation(stack, accountId, ada));
  ({ endpointId } = await delivery.createEndpoint(accountId));
  await stack.client(EndpointService).updateEndpoint({ accountId, endpointId, name: "Shop" });
  const deliveries = stack.client(DeliveryService);
  /** Waits until the newest delivery has this state. Returns its id. */
  const until = (state: DeliveryState) =>
    vi.waitUntil(async () => {
      const [newest] = (await deliveries.listDeliveries({ accountId })).deliveries;
      return newest?.state === state && newest.id;
    }, SETTLED);
  const pay = (donorName: string, amountCents: bigint) =>
    createPaidDonation(stack, accountId, { donorName, amountCents, message: "Good luck!" });
  await pay("Grace", 2_500n);
  await pay("Linus", 100n);
  await until(DeliveryState.DELIVERED);
  delivery.receiver.behaviour = answer(404, "", "no such route");
  await pay("Barbara", 1_000n);
  failedId = await until(DeliveryState.FAILED);
  await countAttemptsNow(stack.database);
});

const PAGES = [
  ["overview", () => "/", "For the stream"],
  ["keys", () => "/keys", "Valid until"],
  ["endpoints", () => "/endpoints", "Last day"],
  ["new-endpoint", () => "/endpoints/new", "Leave it empty to see the URL."],
  ["endpoint", () => `/endpoints/${endpointId}`, "Latest deliveries"],
  ["deliveries", () => "/deliveries?span=custom", "Signature refused"],
  ["delivery", () => `/deliveries/${failedId}`, "What came back"],
  ["activity", () => "/activity", "For the stream"],
  ["record", () => `/activity/don_${recordId}`, "Old deliveries are removed."],
] as const;
const NARROW = 390;
/** The narrow looks are last, so the next page loads in a narrow look, where its buttons are harder to reach. */
const LOOKS = [1280, NARROW].flatMap((width) =>
  (["light", "dark"] as const).map((colorScheme) => ({ width, colorScheme })),
);
/** The colours of buttons change slowly. Resolves when they have changed. */
const COLOURS_HAVE_CHANGED =
  "Promise.allSettled(document.getAnimations().map(({ finished }) => finished)).then(() => true)";

/** Returns axe's findings against WCAG 2.2 AA and its good practice. */
async function findings(page: Page): Promise<string[]> {
  const options = JSON.stringify({ runOnly: RULES, resultTypes: ["violations"] });
  const { violations } = (await page.evaluate(`axe.run(document, ${options})`)) as axe.AxeResults;
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}

/** Checks a page in each look without another load, because only the page's styles depend on the look. */
async function expectGoodLooks(page: Page, name: string): Promise<void> {
  await page.evaluate(axe.source);
  for (const { width, colorScheme } of LOOKS) {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await page.evaluate(COLOURS_HAVE_CHANGED);
    const look = `${width} px, ${colorScheme}`;
    expect(await findings(page), look).toEqual([]);
    expect(await page.evaluate(OVERFLOW), look).toBe(0);
    await takeScreenshot(page, name);
  }
}

describe("at 1280 and 390 px, in light and dark colours,", () => {
  let page: Page;
  beforeAll(async () => {
    page = await browsers.signIn(accountId, { width: NARROW });
    // Every page then shows the banner, because the notice of a reused link stays open for twelve hours.
    await tellOfLink(browsers.stack.database, accountId);
  });

  it.each(PAGES)(
    "axe finds nothing on the page of %s, and nothing is cut off",
    async (name, path, text) => {
      await page.goto(`${browsers.origin}${path()}`);
      await page.getByText(text).first().waitFor({ state: "attached" });
      // These pages always wait for the next record, so their network is never idle.
      const isLive = name === "activity" || name === "overview";
      await page.waitForLoadState(isLive ? "load" : "networkidle");
      if (name === "endpoint") await page.getByRole("figure").first().waitFor();
      await expectGoodLooks(page, name);
      browsers.expectClean();
    },
  );

  it.each([
    ["/keys", "Create key"],
    ["/keys", "Renew: test"],
    ["/keys", "Revoke: test"],
    ["/keys", "Account: Streamer ★"],
    ["endpoint", "Send a test"],
    ["endpoint", "Rotate secret"],
    ["/deliveries", "Retry failed"],
  ])("axe finds nothing in the dialog that %s opens with %s", async (path, name) => {
    await page.goto(`${browsers.origin}${path === "endpoint" ? `/endpoints/${endpointId}` : path}`);
    await page.getByRole("button", { name }).first().click();
    await page.getByRole("dialog").waitFor();
    await expectGoodLooks(page, `dialog-${name.toLowerCase().replace(/[^a-z]+/g, "-")}`);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await page.evaluate("document.activeElement?.tagName")).toBe("BUTTON");
  });

  it("axe finds nothing on the pages of a new account, and each names the next step", async () => {
    const page = await browsers.signIn(await createAccount(browsers.stack), { width: NARROW });
    for (const [name, path, text] of [
      ["overview", "/", "Create an API key"],
      ["keys", "/keys", "No active key"],
      ["endpoints", "/endpoints", "No endpoint yet"],
      ["deliveries", "/deliveries", "No deliveries yet"],
      ["activity", "/activity", "Nothing happened yet"],
    ] as const) {
      await page.goto(`${browsers.origin}${path}`);
      await page.getByText(text).first().waitFor();
      await expectGoodLooks(page, `empty-${name}`);
    }
  });
});
