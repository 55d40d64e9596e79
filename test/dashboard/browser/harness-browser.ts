import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type SessionScope, SessionService } from "@activity/proto";
import { chromium, type Page } from "playwright-core";
import { expect } from "vitest";
import { findChromium } from "../../../dev-stack/src/find-chromium.ts";
import { findFreePort } from "../../../dev-stack/src/free-port.ts";
import { createProgress } from "../../../dev-stack/src/progress.ts";
import { startDeliveryStack } from "../../delivery/harness-deliveries.ts";
import { answer } from "../../delivery/harness-receiver-behaviours.ts";
import { EVERYTHING } from "../harness-dashboard.ts";
import { builtDashboard } from "./harness-built.ts";

/** How many pixels of a page's width are cut off. */
export const OVERFLOW =
  "document.documentElement.scrollWidth - document.documentElement.clientWidth";
/** Chromium's console message for a failed answer or a missing network. The page itself also shows the failure. */
const SHOWN_BY_PAGE =
  /^Failed to load resource: (the server responded with a status of 4\d\d|net::ERR_INTERNET_DISCONNECTED)/;
const SCREENSHOTS = fileURLToPath(new URL("../../../dashboard/screenshots", import.meta.url));
/** The time limit of each step in a page. It is long, because a page is slow on a busy machine. */
const PATIENCE_MS = 20_000;

export type Look = { readonly width?: number; readonly colorScheme?: "light" | "dark" };

type Embedding = {
  readonly sites: readonly string[];
  readonly core: Readonly<Record<string, string>>;
};

/**
 * Starts the product, a receiver and Chromium. Builds the dashboard first if its sources are newer. `embedding` names
 * other sites whose pages may be loaded, and adds settings of the core.
 */
export async function startBrowserStack(embedding?: Embedding) {
  const progress = createProgress();
  await builtDashboard();
  const program = await findChromium({ env: process.env, progress });
  const port = await findFreePort();
  const origin = `http://localhost:${port}`;
  const core = {
    DASHBOARD_PORT: `${port}`,
    DASHBOARD_URL: origin,
    DASHBOARD_API_URL: "https://api.example.com/api/v1",
    ...embedding?.core,
  };
  const delivery = await startDeliveryStack(answer(200), { core });
  // Chromium refuses a few ports, such as 10080, unless an argument allows them. The free port may be one of them.
  const args = [`--explicitly-allowed-ports=${port}`];
  const browser = await chromium.launch({ executablePath: program, args });
  const problems: string[] = [];
  const { stack } = delivery;

  /** Creates a link as an internal service does. */
  const link = async (
    accountId: string,
    scopes: readonly SessionScope[] = EVERYTHING,
    returnUrl = "",
  ) => {
    const links = stack.client(SessionService);
    return (await links.createSessionLink({ accountId, scopes: [...scopes], returnUrl })).url;
  };
  /** Opens a new browser window without a cookie. */
  const window = async ({ width = 1280, colorScheme = "light" }: Look = {}) => {
    const viewport = { width, height: 800 };
    // Differs from the server's time zone, so that a mix-up of zones shows.
    const timezoneId = "Asia/Kolkata";
    const context = await browser.newContext({ viewport, colorScheme, timezoneId });
    context.setDefaultTimeout(PATIENCE_MS);
    await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin });
    context.on("console", (message) => {
      if (message.type() !== "error" || SHOWN_BY_PAGE.test(message.text())) return;
      problems.push(`console: ${message.text()}`);
    });
    context.on("weberror", (error) => problems.push(`thrown: ${error.error().message}`));
    context.on("request", (request) => {
      const isKnown = [origin, ...(embedding?.sites ?? [])].some((site) =>
        request.url().startsWith(`${site}/`),
      );
      if (!isKnown) problems.push(`called ${request.url()}`);
    });
    return context;
  };
  return {
    ...{ delivery, stack, origin, link, window },
    /** Opens a window and signs it in. The page is the overview, or the first page that the scopes allow. */
    async signIn(
      accountId: string,
      { scopes, ...look }: Look & { readonly scopes?: readonly SessionScope[] } = {},
    ) {
      const page = await (await window(look)).newPage();
      await page.goto(await link(accountId, scopes));
      await page.getByRole("navigation").waitFor();
      return page;
    },
    /** Closes all windows, whose pages would read their data again and again. */
    closeWindows: () => Promise.all(browser.contexts().map((context) => context.close())),
    /** Checks that no page logged an error, threw, or called another server. */
    expectClean: (expected: readonly unknown[] = []) =>
      expect(problems.splice(0)).toEqual(expected),
    async stop() {
      await browser.close();
      await delivery.stop();
    },
  };
}

/** With SCREENSHOTS=1, takes a picture of a page without its notice. The file's name ends with width and colours. */
export async function takeScreenshot(page: Page, name: string): Promise<void> {
  if (!process.env.SCREENSHOTS) return;
  const width = page.viewportSize()?.width ?? 0;
  const isDark = await page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches");
  await page.evaluate("document.querySelector('main > [role=status] > section')?.remove()");
  const path = join(SCREENSHOTS, `${name}-${width}-${isDark ? "dark" : "light"}.png`);
  await page.screenshot({ path, fullPage: width < 600 });
}
