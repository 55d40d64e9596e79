import { DeliveryState } from "@activity/proto";
import type { Page } from "playwright-core";
import { afterEach, beforeEach, expect } from "vitest";
import { answer } from "../../delivery/harness-receiver-behaviours.ts";
import { type StoredDelivery, writeDeliveries } from "../../harness/backlog.ts";
import { createAccount } from "../../harness/builders.ts";
import { useStarted } from "../../harness/use-started.ts";
import { type Look, startBrowserStack } from "./harness-browser.ts";

/**
 * Opens a page for each test of a file, at `path`, signed in to a new account. Afterwards it checks that the page had
 * no errors. The receiver answers 200 at first.
 */
export function useOwnPage(path = "/", look: Look = {}) {
  const browsers = useStarted(startBrowserStack);
  let accountId: string;
  let page: Page;
  beforeEach(async () => {
    browsers.delivery.receiver.behaviour = answer(200);
    accountId = await createAccount(browsers.stack);
    page = await browsers.signIn(accountId, look);
    if (path !== "/") await page.goto(`${browsers.origin}${path}`);
  });
  afterEach(async () => {
    await browsers.closeWindows();
    browsers.expectClean();
  });
  const dialog = () => page.getByRole("dialog");
  const stateOf = (deliveryId: string) => browsers.delivery.stateOf(accountId, deliveryId);
  /** Waits until a delivery has a state. */
  const until = (deliveryId: string, state: DeliveryState) =>
    expect.poll(() => stateOf(deliveryId)).toBe(state);
  return {
    browsers,
    get accountId() {
      return accountId;
    },
    get page() {
      return page;
    },
    get stack() {
      return browsers.stack;
    },
    get delivery() {
      return browsers.delivery;
    },
    button: (name: string) => page.getByRole("button", { name, exact: true }),
    row: (hasText: string) => page.getByRole("row").filter({ hasText }),
    see: (text: string | RegExp) => page.getByText(text).waitFor(),
    /**
     * Marks the status elements that the page has now. A screen reader may not read an element that appears together
     * with its text.
     */
    markStatuses: () =>
      page.evaluate(
        "for (const { dataset } of document.querySelectorAll('[role=status]')) dataset.known = ''",
      ),
    /** Waits for a text in a marked status element. */
    spoken: (text: string) => page.locator("[data-known]").getByText(text).waitFor(),
    dialog,
    /** Waits for a text of the dialog. */
    told: (text: string) => dialog().getByText(text).waitFor(),
    /** Presses a button of the dialog. */
    press: (name: string) => dialog().getByRole("button", { name, exact: true }).click(),
    closed: () => dialog().waitFor({ state: "detached" }),
    goTo: (name: string) =>
      page.getByRole("navigation").getByRole("link", { name, exact: true }).click(),
    open: (path: string) => page.goto(`${browsers.origin}${path}`),
    /** Returns the code that the page or its dialog shows below a label. */
    async code(label: string) {
      const figure = page.getByRole("figure").filter({ hasText: label });
      return (await figure.locator("code").textContent()) ?? "";
    },
    createEndpoint: () => browsers.delivery.createEndpoint(accountId),
    sendTest: (endpointId: string) => browsers.delivery.sendTest({ accountId, endpointId }),
    /** Stores deliveries of one event to an endpoint. */
    writeDeliveries(endpointId: string, count: number, stored: StoredDelivery) {
      const backlog = { accountId, endpointIds: [endpointId], count };
      return writeDeliveries(browsers.stack.database, backlog, stored);
    },
    stateOf,
    until,
    /** Sends a test to a new endpoint, which answers with this status from now on. Waits until the attempt failed. */
    async fail(status: number) {
      browsers.delivery.receiver.behaviour = answer(status, "", "the receiver's own words");
      const { endpointId } = await browsers.delivery.createEndpoint(accountId);
      const { deliveryId, eventId } = await browsers.delivery.sendTest({ accountId, endpointId });
      await until(deliveryId, status < 500 ? DeliveryState.FAILED : DeliveryState.RETRYING);
      return { endpointId, deliveryId, eventId };
    },
    /** Checks that the page, its address and its storage do not hold a secret. */
    async expectForgotten(secret: string) {
      expect(page.url()).not.toContain(secret);
      // Polls, because the page removes a closed dialog a moment later.
      const html = () => page.evaluate("document.documentElement.outerHTML");
      await expect.poll(html).not.toContain(secret);
      const stores =
        "JSON.stringify([localStorage, sessionStorage, history.state, document.cookie])";
      expect(await page.evaluate(stores)).not.toContain(secret);
    },
  };
}
