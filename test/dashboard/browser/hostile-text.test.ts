import { AccountService, ApiKeyService, DeliveryState, EndpointService } from "@activity/proto";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { answer } from "../../delivery/harness-receiver-behaviours.ts";
import { writeDeliveries } from "../../harness/backlog.ts";
import { createPaidDonation, unique } from "../../harness/builders.ts";
import { useStarted } from "../../harness/use-started.ts";
import { startBrowserStack } from "./harness-browser.ts";
import { takeScreenshot } from "./harness-screenshots.ts";

const SCRIPT = "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>";
const OVERRIDE = "\u202egnp.exe";
const WORD = "W".repeat(10_000);
const NAME = `${SCRIPT}${OVERRIDE}`;

const browsers = useStarted(startBrowserStack);
let endpointId: string;
let deliveryId: string;
let accountId: string;
beforeAll(async () => {
  const { stack, delivery } = browsers;
  const client = stack.client(AccountService);
  const names = { externalId: unique("account"), username: unique("user"), displayName: NAME };
  accountId = (await client.putAccount(names)).account?.id ?? "";
  await client.verifyAccount({ accountId });
  await stack.client(ApiKeyService).createApiKey({ accountId, name: NAME, validityDays: 30 });
  await stack.database.query("UPDATE api_key SET last_used_at = created_at");
  const donorName = `${OVERRIDE} ${SCRIPT}`;
  await createPaidDonation(stack, accountId, {
    donorName,
    message: `${OVERRIDE} ${WORD.slice(0, 200)}`,
  });
  delivery.receiver.behaviour = answer(500, "", `${SCRIPT}${OVERRIDE}${WORD.slice(0, 900)}`);
  ({ endpointId } = await delivery.createEndpoint(accountId));
  const endpoints = stack.client(EndpointService);
  const name = `${OVERRIDE} <img src=x onerror=hacked=1> ${WORD.slice(0, 24)}`;
  await endpoints.updateEndpoint({ accountId, endpointId, name });
  await createPaidDonation(stack, accountId, { donorName: SCRIPT, message: OVERRIDE });
  // Without a donation's name, and of long ago: the longest time beside the longest word.
  const backlog = { accountId, endpointIds: [endpointId], count: 1 };
  await writeDeliveries(stack.database, backlog, { state: DeliveryState.FAILED, attempts: 1 });
  const sent = await endpoints.sendTest({ accountId, endpointId });
  deliveryId = sent.deliveryId;
  // Longer than the product stores: what it may store one day changes nothing either.
  await stack.database.query("ALTER TABLE activity MODIFY message MEDIUMTEXT");
  await stack.database.query("UPDATE activity SET message = ? WHERE message LIKE '%WWW%'", [WORD]);
});

const PATHS: Readonly<Record<string, (() => string) | undefined>> = {
  endpoint: () => `/endpoints/${endpointId}`,
  delivery: () => `/deliveries/${deliveryId}`,
};

/** Returns the words of a table's cells that stand on two lines. A stranger's long words may. */
const BROKEN_WORDS = `[...document.querySelectorAll("td")].flatMap((cell) => {
  const broken = [];
  const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { currentNode: text } = texts;
    const whole = text.parentElement.closest("time");
    for (const { 0: word, index } of text.data.matchAll(whole ? /.+/g : /\\S+/g)) {
      if (word.length > 12 && text.parentElement.closest("bdi")) continue;
      const range = document.createRange();
      range.setStart(text, index);
      range.setEnd(text, index + word.length);
      if (new Set([...range.getClientRects()].map(({ top }) => top)).size > 1) broken.push(word);
    }
  }
  return broken;
})`;

describe.each([320, 390, 640, 900, 1280, 1920])("a stranger's text at %i px", (width) => {
  let page: Page;
  beforeAll(async () => {
    page = await browsers.signIn(accountId, { width });
  });
  afterAll(() => page.context().close());

  it.each([
    ["/", () => page.getByRole("row").filter({ hasText: "WWW" })],
    ["/keys", () => page.getByRole("row").filter({ hasText: "<script>" })],
    ["/activity", () => page.getByRole("row").filter({ hasText: "WWW" })],
    ["/endpoints", () => page.getByRole("row").nth(1)],
    ["/deliveries", () => page.getByRole("row").nth(1)],
    ["endpoint", () => page.getByText("Latest deliveries")],
    ["delivery", () => page.getByText("What came back").first()],
  ] as const)("changes nothing on %s, and no word or time breaks", async (path, shown) => {
    await page.goto(`${browsers.origin}${PATHS[path]?.() ?? path}`);
    await shown().waitFor({ state: "attached" });
    // The activity always waits for what comes next, on the overview too.
    await page.waitForLoadState(/^\/(activity)?$/.test(path) ? "load" : "networkidle");
    expect(await page.evaluate("window.hacked")).toBeUndefined();
    expect(await page.locator("img, #root script").count()).toBe(0);
    const overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
    expect(await page.evaluate(overflow)).toBe(0);
    expect(await page.evaluate(BROKEN_WORDS)).toEqual([]);
    browsers.expectClean();
    await takeScreenshot(page, `hostile-${path.replace("/", "") || "overview"}`);
  });

  it("is kept from turning around what stands beside it", async () => {
    await page.goto(`${browsers.origin}/activity`);
    await page.getByRole("row").filter({ hasText: "WWW" }).waitFor();
    const bidi =
      "[...document.querySelectorAll('td bdi')].map((e) => getComputedStyle(e).unicodeBidi)";
    expect(new Set((await page.evaluate(bidi)) as string[])).toEqual(new Set(["isolate"]));
    await page.goto(`${browsers.origin}/deliveries/${deliveryId}`);
    const answered = page
      .getByRole("figure")
      .filter({ hasText: "What came back" })
      .locator("code")
      .first();
    expect(await answered.textContent()).toContain("\\u202egnp.exe");
  });

  it("is shortened until the whole of it is asked for", async () => {
    await page.goto(`${browsers.origin}/activity`);
    const row = page.getByRole("row").filter({ hasText: "WWW" });
    const length = async () => ((await row.textContent()) ?? "").length;
    expect(await length()).toBeLessThan(1_000);
    await row.getByRole("button", { name: "Show all" }).click();
    expect(await length()).toBeGreaterThan(10_000);
    const overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
    expect(await page.evaluate(overflow)).toBe(0);
  });
});
