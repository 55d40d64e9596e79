import { cp, writeFile } from "node:fs/promises";
import http from "node:http";
import { join } from "node:path";
import type { FrameLocator, Page } from "playwright-core";
import { afterEach, expect, it } from "vitest";
import { createAccount } from "../../harness/builders.ts";
import { listenLocally } from "../../harness/listening.ts";
import { useFolder, useStarted } from "../../harness/use-started.ts";
import { startBrowserStack } from "./harness-browser.ts";
import { builtDashboard } from "./harness-built.ts";

const ACCENT = "rgb(11, 110, 79)";
const LOGO =
  "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 1 1'><path d='M0 0h1v1z'/></svg>";

const THEME = `:root { --accent: ${ACCENT}; --on-accent: #fff; --logo: url("/logo.svg"); }`;

const site = useStarted(startSite);
const stranger = useStarted(startSite);
/** The folder of the dashboard, with the colours and the logo of the embedding site. */
const files = useFolder("themed-dashboard");
const browsers = useStarted(async () => {
  await cp(await builtDashboard(), files, { recursive: true });
  await writeFile(join(files, "logo.svg"), LOGO);
  await writeFile(join(files, "theme.css"), THEME);
  return startBrowserStack({
    sites: [site.origin, stranger.origin],
    core: { DASHBOARD_FRAME_ANCESTORS: site.origin, DASHBOARD_FILES: files },
  });
});
afterEach(() => browsers.expectClean());

/** Starts a site whose only page has an empty frame. Its host is not `localhost`. */
async function startSite() {
  const page = "<!doctype html><title>A site</title><link rel=icon href=data:,><iframe></iframe>";
  const server = http.createServer((_request, response) => {
    response.setHeader("content-type", "text/html").end(page);
  });
  const origin = `http://127.0.0.1:${await listenLocally(server)}`;
  return { origin, stop: () => void server.close() };
}

async function embed(page: Page, url: string, { origin } = site): Promise<FrameLocator> {
  await page.goto(`${origin}/`);
  await page.evaluate(`document.querySelector("iframe").src = ${JSON.stringify(url)}`);
  return page.frameLocator("iframe");
}

it("a session in another site's page works only in that site's pages. ADR 0038", async () => {
  const page = await (await browsers.window()).newPage();
  const url = await browsers.link(await createAccount(browsers.stack));
  const frame = await embed(page, url);
  await frame.getByRole("heading", { name: "Overview" }).waitFor();
  await frame.getByRole("link", { name: "Endpoints" }).click();
  await frame.getByText("No endpoint yet").waitFor();

  const again = await embed(page, `${browsers.origin}/keys`);
  await again.getByRole("heading", { name: "API keys" }).waitFor();
  // The cookie belongs to the embedding site, so the dashboard's own page does not get it.
  await page.goto(`${browsers.origin}/keys`);
  await page.getByRole("heading", { name: "Your session has ended" }).waitFor();
});

it("a browser shows nothing of the dashboard in a site that may not embed it. ADR 0038", async () => {
  const page = await (await browsers.window()).newPage();
  const refused = page.waitForEvent("console", (message) => message.type() === "error");
  const url = await browsers.link(await createAccount(browsers.stack));
  const frame = await embed(page, url, stranger);
  await refused;
  expect(await frame.getByRole("heading").count()).toBe(0);
  browsers.expectClean([expect.stringContaining("frame-ancestors")]);
});

it("the account's button is reached in a wide, low frame", async () => {
  const page = await browsers.signIn(await createAccount(browsers.stack));
  await page.setViewportSize({ width: 900, height: 300 });
  await page.goto(`${browsers.origin}/endpoints/new`);
  const button = page.getByRole("button", { name: /^Account/ });
  await button.scrollIntoViewIfNeeded();
  const { y, height } = (await button.boundingBox()) ?? expect.unreachable();
  // The browser rounds the scroll position, so only the button's middle must be visible.
  expect(y + height / 2).toBeLessThan(300);
});

it("the dashboard has the colours and the logo of its folder's theme.css. ADR 0040", async () => {
  const page = await browsers.signIn(await createAccount(browsers.stack));
  const style = (selector: string, property: string) =>
    page.evaluate(`getComputedStyle(document.querySelector("${selector}")).${property}`);
  await page.getByRole("link", { name: "API keys" }).click();
  await page.getByRole("button", { name: "Create key" }).waitFor();
  expect(await style("main button", "backgroundColor")).toBe(ACCENT);
  expect(await style("header [aria-hidden]", "backgroundImage")).toContain("/logo.svg");
});
