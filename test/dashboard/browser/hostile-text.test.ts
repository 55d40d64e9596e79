import { ApiKeyService, DeliveryState, EndpointService } from "@activity/proto";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { answer } from "../../delivery/harness-receiver-behaviours.ts";
import { writeDeliveries } from "../../harness/backlog.ts";
import { createAccount, createPaidDonation } from "../../harness/builders.ts";
import { useStarted } from "../../harness/use-started.ts";
import { OVERFLOW, startBrowserStack, takeScreenshot } from "./harness-browser.ts";

const SCRIPT = "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>";
const OVERRIDE = "\u202egnp.exe";
const WORD = "W".repeat(10_000);
/** Characters that end the isolation of a text, by its end mark or a new paragraph, and reverse what follows. */
const ESCAPES = ["\u2069\u202e", "\u2029\u202e", "\u0085\u202e"];
const INVISIBLE = "\u3164\u200b\u00ad\u2800";
const NAME = `${SCRIPT}${OVERRIDE}`;
/** The receiver's answer. Of its last character's two bytes only the first is stored, because it is byte 1,024. */
const ANSWER = `${`${SCRIPT}${OVERRIDE}`.padEnd(1_021, "W")}é`;

const browsers = useStarted(startBrowserStack);
let endpointId: string;
let deliveryId: string;
let page: Page;
beforeAll(async () => {
  const { stack, delivery } = browsers;
  const accountId = await createAccount(stack, { displayName: NAME });
  await stack.client(ApiKeyService).createApiKey({ accountId, name: NAME, validityDays: 30 });
  await stack.database.query("UPDATE api_key SET last_used_at = created_at");
  const lines = `Lines${"\n".repeat(279)}`;
  await createPaidDonation(stack, accountId, { donorName: INVISIBLE, message: lines });
  const long = `${OVERRIDE} ${WORD.slice(0, 200)}`;
  await createPaidDonation(stack, accountId, { donorName: `${OVERRIDE} ${SCRIPT}`, message: long });
  for (const end of ESCAPES) {
    const donorName = `Ada${end}`;
    await createPaidDonation(stack, accountId, { donorName, amountCents: 1_009n });
  }
  const donorName = `Broken${"\n".repeat(8)}name ${SCRIPT}`;
  delivery.receiver.behaviour = answer(500, "", ANSWER);
  ({ endpointId } = await delivery.createEndpoint(accountId));
  const endpoints = stack.client(EndpointService);
  const name = `${OVERRIDE} <img src=x onerror=hacked=1> ${WORD.slice(0, 24)}`;
  await endpoints.updateEndpoint({ accountId, endpointId, name });
  await createPaidDonation(stack, accountId, { donorName, message: OVERRIDE });
  // An old delivery without a donation's name shows the longest time beside the longest word.
  const backlog = { accountId, endpointIds: [endpointId], count: 1 };
  await writeDeliveries(stack.database, backlog, { state: DeliveryState.FAILED, attempts: 1 });
  ({ deliveryId } = await endpoints.sendTest({ accountId, endpointId }));
  // Enlarges the column, because this text is longer than the product stores today.
  await stack.database.query("ALTER TABLE activity MODIFY message MEDIUMTEXT");
  await stack.database.query("UPDATE activity SET message = ? WHERE message LIKE '%WWW%'", [WORD]);
  page = await browsers.signIn(accountId);
});

/** Returns the words of table cells that are broken over two lines. Only a stranger's long words may be broken. */
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

/** Returns the characters of each amount of €10.09 from left to right, as they are drawn. */
const DRAWN_AMOUNTS = `(() => {
  const amounts = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { currentNode: text } = texts;
    if (text.data !== "€10.09") continue;
    const left = (index) => {
      const range = document.createRange();
      range.setStart(text, index);
      range.setEnd(text, index + 1);
      return range.getBoundingClientRect().left;
    };
    const order = [...text.data].map((_, index) => index).sort((a, b) => left(a) - left(b));
    amounts.push(order.map((index) => text.data[index]).join(""));
  }
  return amounts;
})()`;

const row = (hasText: string) => page.getByRole("row").filter({ hasText });

/** Calls `check` at each width without another load of the page, because only the page's styles depend on the width. */
async function atEachWidth(check: (width: string) => Promise<void>): Promise<void> {
  for (const width of [320, 390, 640, 900, 1280, 1920]) {
    await page.setViewportSize({ width, height: 800 });
    await check(`${width} px`);
  }
}

describe("a stranger's text", () => {
  it.each([
    ["overview", () => "/", () => row("WWW")],
    ["keys", () => "/keys", () => row("<script>")],
    ["activity", () => "/activity", () => row("WWW")],
    ["endpoints", () => "/endpoints", () => page.getByRole("row").nth(1)],
    ["deliveries", () => "/deliveries", () => page.getByRole("row").nth(1)],
    ["endpoint", () => `/endpoints/${endpointId}`, () => page.getByText("Latest deliveries")],
    ["delivery", () => `/deliveries/${deliveryId}`, () => page.getByText("What came back").first()],
  ])(
    "breaks nothing on the page of %s from 320 to 1920 px: no script, width, word or time",
    async (name, path, shown) => {
      await page.goto(`${browsers.origin}${path()}`);
      await shown().waitFor({ state: "attached" });
      // These two pages always have a waiting request for the feed, so their network is never idle.
      const isLive = name === "overview" || name === "activity";
      await page.waitForLoadState(isLive ? "load" : "networkidle");
      expect(await page.evaluate("window.hacked")).toBeUndefined();
      expect(await page.locator("img, #root script").count()).toBe(0);
      await atEachWidth(async (width) => {
        expect(await page.evaluate(OVERFLOW), width).toBe(0);
        expect(await page.evaluate(BROKEN_WORDS), width).toEqual([]);
        await takeScreenshot(page, `hostile-${name}`);
      });
      browsers.expectClean();
    },
  );

  it("does not change the direction of the text beside it", async () => {
    await page.goto(`${browsers.origin}/activity`);
    await row("WWW").waitFor();
    expect(await page.evaluate(DRAWN_AMOUNTS)).toEqual(ESCAPES.map(() => "€10.09"));
    await page.goto(`${browsers.origin}/deliveries/${deliveryId}`);
    const answered = page.getByRole("figure").filter({ hasText: "What came back" });
    expect(await answered.locator("code").first().textContent()).toContain("\\u202egnp.exe");
  });

  it("is cut after a whole character if only its start is stored", async () => {
    await page.goto(`${browsers.origin}/deliveries/${deliveryId}`);
    const answered = page.getByRole("figure").filter({ hasText: "What came back" });
    expect(await answered.locator("code").first().textContent()).toMatch(/W$/);
  });

  it("is no name if nothing of it is visible, because a link needs a text", async () => {
    await page.goto(`${browsers.origin}/activity`);
    await row("Lines").getByRole("link", { name: "no name" }).waitFor();
  });

  it("of many lines is a name in one line, without a button in its link", async () => {
    for (const path of ["activity", "deliveries"]) {
      await page.goto(`${browsers.origin}/${path}`);
      await page.getByRole("link", { name: "Broken name" }).waitFor();
      expect(await page.locator("a button").count()).toBe(0);
    }
  });

  it("is shortened until the reader shows all of it", async () => {
    await page.goto(`${browsers.origin}/activity`);
    const height = async () => (await row("Lines").boundingBox())?.height;
    expect(await height()).toBeLessThan(400);
    await row("Lines").getByRole("button", { name: "Show all" }).click();
    expect(await height()).toBeGreaterThan(4_000);
    const length = async () => ((await row("WWW").textContent()) ?? "").length;
    expect(await length()).toBeLessThan(1_000);
    await row("WWW").getByRole("button", { name: "Show all" }).click();
    expect(await length()).toBeGreaterThan(10_000);
    await atEachWidth(async (width) => expect(await page.evaluate(OVERFLOW), width).toBe(0));
  });
});
