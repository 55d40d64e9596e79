import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FrameLocator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { createAccount } from "../../harness/builders.ts";
import { type BrowserStack, startBrowserStack } from "./harness-browser.ts";
import { builtDashboard } from "./harness-built.ts";

const ACCENT = "rgb(11, 110, 79)";
const LOGO =
  "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 1 1'><path d='M0 0h1v1z'/></svg>";

/** A site whose only page has an empty frame. */
type Site = { readonly origin: string; close(): void };
let host: Site;
let stranger: Site;
let files: string;
let browsers: BrowserStack;
beforeAll(async () => {
  [host, stranger] = [await startSite(), await startSite()];
  // The folder that is served, with the colours and the logo of the embedding site.
  files = await mkdtemp(join(tmpdir(), "themed-dashboard-"));
  await cp(await builtDashboard(), files, { recursive: true });
  await writeFile(join(files, "logo.svg"), LOGO);
  await writeFile(
    join(files, "theme.css"),
    `:root { --accent: ${ACCENT}; --on-accent: #fff; --logo: url("/logo.svg"); }`,
  );
  browsers = await startBrowserStack({
    sites: [host.origin, stranger.origin],
    core: { DASHBOARD_FRAME_ANCESTORS: host.origin, DASHBOARD_FILES: files },
  });
});
afterAll(async () => {
  await browsers.stop();
  host.close();
  stranger.close();
  await rm(files, { recursive: true });
});
afterEach(() => browsers.expectClean());

/** Another site than `localhost`, as its address is another. */
async function startSite(): Promise<Site> {
  const server = http.createServer((_request, response) => {
    response.setHeader("content-type", "text/html");
    response.end(
      "<!doctype html><title>A site</title><link rel=icon href=data:,><iframe></iframe>",
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { origin: `http://127.0.0.1:${port}`, close: () => void server.close() };
}

/** Shows an address in the frame of a site's page. */
async function embed(page: Page, site: Site, url: string): Promise<FrameLocator> {
  await page.goto(`${site.origin}/`);
  await page.evaluate(`document.querySelector("iframe").src = ${JSON.stringify(url)}`);
  return page.frameLocator("iframe");
}

it("lets the owner in within another site's page, and knows the session again there only. ADR 0038", async () => {
  const page = await (await browsers.window()).newPage();
  const url = await browsers.link(await createAccount(browsers.stack));
  const frame = await embed(page, host, url);
  await frame.getByRole("heading", { name: "Overview" }).waitFor();
  await frame.getByRole("link", { name: "Endpoints" }).click();
  await frame.getByText("No endpoint yet").waitFor();

  const again = await embed(page, host, `${browsers.origin}/keys`);
  await again.getByRole("heading", { name: "API keys" }).waitFor();
  const [cookie] = await page.context().cookies();
  expect(cookie).toMatchObject({ httpOnly: true, secure: true, sameSite: "None" });
  // Its cookie is the embedding site's own: by itself the dashboard is another place.
  await page.goto(`${browsers.origin}/keys`);
  await page.getByRole("heading", { name: "Your session has ended" }).waitFor();
});

it("shows a site that may not embed it nothing. ADR 0038", async () => {
  const page = await (await browsers.window()).newPage();
  const refused = page.waitForEvent("console", (message) => message.type() === "error");
  const url = await browsers.link(await createAccount(browsers.stack));
  const frame = await embed(page, stranger, url);
  await refused;
  expect(await frame.getByRole("heading").count()).toBe(0);
  browsers.expectClean([expect.stringContaining("frame-ancestors")]);
});

it("wears the colours and the logo of the theme.css in the folder that is served. ADR 0040", async () => {
  const page = await browsers.signIn(await createAccount(browsers.stack));
  const style = (selector: string, property: string) =>
    page.evaluate(`getComputedStyle(document.querySelector("${selector}")).${property}`);
  await page.getByRole("link", { name: "API keys" }).click();
  await page.getByRole("button", { name: "Create key" }).waitFor();
  expect(await style("main button", "backgroundColor")).toBe(ACCENT);
  expect(await style("header [aria-hidden]", "backgroundImage")).toContain("/logo.svg");
});
