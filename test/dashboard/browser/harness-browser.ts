import { type SessionScope, SessionService } from "@activity/proto";
import { chromium } from "playwright-core";
import { expect } from "vitest";
import { cacheFolder } from "../../../dev-stack/src/cache-folder.ts";
import { findChromium } from "../../../dev-stack/src/find-chromium.ts";
import { findFreePort } from "../../../dev-stack/src/free-port.ts";
import { createProgress } from "../../../dev-stack/src/progress.ts";
import { startDeliveryStack } from "../../delivery/harness-deliveries.ts";
import { answer } from "../../delivery/harness-receiver-behaviours.ts";
import { EVERYTHING } from "../harness-dashboard.ts";
import { builtDashboard } from "./harness-built.ts";

/** What Chromium says of an answer that is no success, and of no network; the page says it in words. */
const SAID_BY_PAGE =
  /^Failed to load resource: (the server responded with a status of 4\d\d|net::ERR_INTERNET_DISCONNECTED)/;
/** On a busy machine a page takes its time. */
const PATIENCE_MS = 20_000;

export type Look = { readonly width?: number; readonly colorScheme?: "light" | "dark" };

/** The whole product with the built dashboard, and a real browser. */
export type BrowserStack = Awaited<ReturnType<typeof startBrowserStack>>;

/** Where another site's page stands that embeds the dashboard, and settings of the core for it. */
export type Embedding = {
  readonly sites: readonly string[];
  readonly core: Readonly<Record<string, string>>;
};

/** Starts everything; the dashboard is built first when its sources are newer. */
export async function startBrowserStack(embedding?: Embedding) {
  const progress = createProgress();
  await builtDashboard();
  const program = await findChromium(process.env, cacheFolder(process.env), progress);
  const port = await findFreePort();
  const origin = `http://localhost:${port}`;
  const core = {
    DASHBOARD_PORT: `${port}`,
    DASHBOARD_URL: origin,
    DASHBOARD_API_URL: "https://api.example.com/api/v1",
    ...embedding?.core,
  };
  const sites = [origin, ...(embedding?.sites ?? [])];
  const delivery = await startDeliveryStack(answer(200), { core });
  // Chromium refuses a few ports, such as 10080, which may be the free one.
  const args = [`--explicitly-allowed-ports=${port}`];
  const browser = await chromium.launch({ executablePath: program, args });
  const problems: string[] = [];
  const { stack } = delivery;

  /** Asks for a link as an internal service does. */
  const link = async (
    accountId: string,
    scopes: readonly SessionScope[] = EVERYTHING,
    returnUrl = "",
  ) => {
    const links = stack.client(SessionService);
    return (await links.createSessionLink({ accountId, scopes: [...scopes], returnUrl })).url;
  };
  /** Opens a browser window of its own, without a cookie. */
  const window = async ({ width = 1280, colorScheme = "light" }: Look = {}) => {
    const viewport = { width, height: 800 };
    // Neither the server's zone nor a short name.
    const timezoneId = "Asia/Kolkata";
    const context = await browser.newContext({ viewport, colorScheme, timezoneId });
    context.setDefaultTimeout(PATIENCE_MS);
    await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin });
    context.on("console", (message) => {
      if (message.type() !== "error" || SAID_BY_PAGE.test(message.text())) return;
      problems.push(`console: ${message.text()}`);
    });
    context.on("weberror", (error) => problems.push(`thrown: ${error.error().message}`));
    context.on("request", (request) => {
      const url = request.url();
      if (!sites.some((site) => url.startsWith(`${site}/`))) problems.push(`asked for ${url}`);
    });
    return context;
  };
  return {
    ...{ delivery, stack, origin, link, window },
    /** Opens a window and lets it into an account; the page is the overview or the first that it may see. */
    async signIn(
      accountId: string,
      { scopes, ...look }: Look & { readonly scopes?: readonly SessionScope[] } = {},
    ) {
      const page = await (await window(look)).newPage();
      await page.goto(await link(accountId, scopes));
      await page.getByRole("navigation").waitFor();
      return page;
    },
    /** Fails when a page wrote an error to its console, threw, or asked another server for anything, but for `said`. */
    expectClean: (said: readonly unknown[] = []) => expect(problems.splice(0)).toEqual(said),
    async stop() {
      await browser.close();
      await delivery.stop();
    },
  };
}
