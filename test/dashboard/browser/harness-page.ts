import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import { answer } from "../../delivery/harness-receiver-behaviours.ts";
import { createAccount } from "../../harness/builders.ts";
import { type BrowserStack, startBrowserStack } from "./harness-browser.ts";

/** A page that every test has for itself, signed in to an account of its own; its receiver answers 200 at first. */
export type OwnPage = {
  readonly browsers: BrowserStack;
  readonly accountId: string;
  readonly page: Page;
  button(name: string): Locator;
  dialog(): Locator;
  /** Presses a button of the dialog. */
  press(name: string): Promise<void>;
  closed(): Promise<void>;
  open(path: string): Promise<unknown>;
  /** The code that the dialog shows below a label. */
  code(label: string): Promise<string>;
  /** Where the receiver is. */
  hookUrl(): string;
  /** Fails when a text that is shown once is still to be found. */
  expectForgotten(secret: string): Promise<void>;
};

/** Gives every test of a file its own page, which afterwards must have been clean. */
export function useOwnPage(): OwnPage {
  let browsers: BrowserStack;
  let accountId: string;
  let page: Page;
  beforeAll(async () => {
    browsers = await startBrowserStack();
  });
  afterAll(() => browsers.stop());
  beforeEach(async () => {
    browsers.delivery.receiver.behaviour = answer(200);
    accountId = await createAccount(browsers.stack);
    page = await browsers.signIn(accountId);
  });
  afterEach(async () => {
    await page.context().close();
    browsers.expectClean();
  });
  const dialog = () => page.getByRole("dialog");
  return {
    get browsers() {
      return browsers;
    },
    get accountId() {
      return accountId;
    },
    get page() {
      return page;
    },
    button: (name) => page.getByRole("button", { name, exact: true }),
    dialog,
    press: (name) => dialog().getByRole("button", { name, exact: true }).click(),
    closed: () => dialog().waitFor({ state: "detached" }),
    open: (path) => page.goto(`${browsers.origin}${path}`),
    async code(label) {
      const figure = dialog().getByRole("figure").filter({ hasText: label });
      return (await figure.locator("code").textContent()) ?? "";
    },
    hookUrl: () => `https://127.0.0.1:${browsers.delivery.receiver.port}/hook`,
    async expectForgotten(secret) {
      expect(page.url()).not.toContain(secret);
      // A dialog that was closed is taken out of the page a moment later.
      const html = () => page.evaluate("document.documentElement.outerHTML");
      await expect.poll(html).not.toContain(secret);
      const stores =
        "JSON.stringify([localStorage, sessionStorage, history.state, document.cookie])";
      expect(await page.evaluate(stores)).not.toContain(secret);
    },
  };
}
