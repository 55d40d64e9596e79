import { AccountService, SessionScope } from "@activity/proto";
import type { Page, Route } from "playwright-core";
import { expect, it } from "vitest";
import { createAccount } from "../../harness/builders.ts";
import { useOwnPage } from "./harness-page.ts";

const own = useOwnPage();
const { browsers } = own;

const ENDED = "Your session has ended";
/**
 * Pages read their lists again after this time of their own clock. A test installs the clock before it loads the page,
 * because the page could not end timers that are older than the clock.
 */
const READ_AGAIN_MS = 10_000;

it("a link lets its reader in once; no address, script or storage holds its code", async () => {
  const url = await browsers.link(own.accountId);
  const page = await (await browsers.window()).newPage();
  await page.goto(url);
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  expect(page.url()).toBe(`${browsers.origin}/`);
  await page.reload();
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  expect(await page.evaluate("document.cookie")).toBe("");
  expect(await page.evaluate("localStorage.length + sessionStorage.length")).toBe(0);

  const other = await (await browsers.window()).newPage();
  await other.goto(url);
  await other.getByRole("heading", { name: "This link no longer works" }).waitFor();
  await other.getByText("for five minutes").waitFor();
  expect(other.url()).toBe(`${browsers.origin}/`);
});

it("when a session ends, every tab of its window says so, and links back to the site that made the link. ADR 0038", async () => {
  const { accountId } = own;
  expect(await own.page.getByRole("link", { name: "Back to your site" }).count()).toBe(0);
  const site = "https://www.example.com/me";
  const page = await (await browsers.window()).newPage();
  await page.clock.install();
  await page.goto(await browsers.link(accountId, undefined, site));
  const back = page.getByRole("link", { name: "Back to your site" });
  await back.waitFor();
  expect(await back.getAttribute("href")).toBe(site);
  const second = await page.context().newPage();
  await second.goto(`${browsers.origin}/deliveries`);
  await second.getByRole("heading", { name: "Deliveries", exact: true }).waitFor();
  await browsers.stack.client(AccountService).blockAccount({ accountId });
  await page.getByRole("link", { name: "Deliveries" }).click();
  await page.getByRole("heading", { name: ENDED }).waitFor();
  await page.locator("h1:focus").waitFor();
  expect(await page.title()).toBe(`${ENDED} · Activity`);
  expect(await page.locator("html").getAttribute("lang")).toBe("en-GB");
  // A translation would empty the page. ADR 0040
  expect(await page.evaluate("document.documentElement.translate")).toBe(false);
  expect(await back.getAttribute("href")).toBe(site);
  // The second tab learns that the session has ended when it reads its list again by itself.
  await second.clock.fastForward(READ_AGAIN_MS);
  await second.getByRole("heading", { name: ENDED }).waitFor();
});

it("an owner signs out in this browser, and everywhere", async () => {
  const { accountId, page } = own;
  const elsewhere = await browsers.signIn(accountId);
  const signOut = async (of: typeof page, name: string) => {
    await of.getByRole("button", { name: /^Account/ }).click();
    await of.getByRole("dialog").getByRole("button", { name, exact: true }).click();
    await of.getByRole("heading", { name: "You are signed out" }).waitFor();
  };
  await signOut(page, "Sign out");
  await page.goBack();
  await page.goto(`${browsers.origin}/keys`);
  await page.getByRole("heading", { name: ENDED }).waitFor();
  await elsewhere.reload();
  await elsewhere.getByRole("heading", { name: "Overview" }).waitFor();

  const third = await browsers.signIn(accountId);
  await signOut(third, "Sign out everywhere");
  await elsewhere.reload();
  await elsewhere.getByRole("heading", { name: ENDED }).waitFor();
});

it("a session sees only the pages and actions of its scopes", async () => {
  const page = await browsers.signIn(own.accountId, { scopes: [SessionScope.ENDPOINTS_READ] });
  await page.getByRole("heading", { name: "Endpoints", exact: true }).waitFor();
  expect(await page.getByRole("navigation").getByRole("link").allTextContents()).toEqual([
    "Endpoints",
  ]);
  expect(await page.getByRole("button", { name: "Create endpoint" }).count()).toBe(0);
  await page.goto(`${browsers.origin}/keys`);
  await page.getByRole("heading", { name: "Nothing to see" }).waitFor();
  await page.getByText("This session has no permission for this page.").waitFor();
  expect(await page.title()).toMatch(/^Nothing to see · /);
});

/** Waits until a page shows the account's name. */
async function expectAccount(page: Page, accountId: string) {
  await page.getByRole("button", { name: /^Account/ }).click();
  const { account } = await browsers.stack.client(AccountService).getAccount({ accountId });
  const name = account?.username ?? expect.unreachable("no account");
  await page.getByRole("dialog").getByText(name).waitFor();
}

it("a link asks before it enters another account; other tabs then follow. ADR 0038", async () => {
  const { page } = own;
  await own.goTo("API keys");
  const accountId = await createAccount(browsers.stack);
  const url = await browsers.link(accountId);
  const second = await page.context().newPage();
  await second.goto(url);
  await second.getByRole("heading", { name: "This link opens another account" }).waitFor();
  await second.getByRole("link", { name: "Stay where I am" }).click();
  await second.getByRole("heading", { name: "Overview" }).waitFor();
  await second.goto("about:blank");
  await second.goto(url);
  await second.getByRole("button", { name: "Open the other account" }).click();
  await second.getByRole("heading", { name: "Overview" }).waitFor();
  await page.waitForURL(`${browsers.origin}/`);
  await page.waitForLoadState();
  await expectAccount(page, accountId);
});

it("a tab shows the new account if another tab replaces the session while the tab opens. ADR 0038", async () => {
  const page = await (await browsers.window()).newPage();
  const url = await browsers.link(own.accountId);
  const replace = async (route: Route) => {
    const second = await page.context().newPage();
    await second.goto(url);
    await second.getByRole("button", { name: "Open the other account" }).click();
    await second.getByRole("heading", { name: "Overview" }).waitFor();
    await route.continue();
  };
  await page.route("**/*.SessionService/GetSession", replace, { times: 1 });
  await page.goto(await browsers.link(await createAccount(browsers.stack)));
  await expectAccount(page, own.accountId);
});

it("a late call with a session that another tab has just replaced does not end its tab. ADR 0038", async () => {
  const { accountId, page } = own;
  const refuse = async (route: Route) => {
    const headers = { ...route.request().headers(), cookie: "__Host-session=before" };
    await route.fulfill({ response: await route.fetch({ headers }) });
  };
  const calls = "**/*.ApiKeyService/ListApiKeys";
  await page.route(calls, refuse);
  await page.goto(`${browsers.origin}/keys`);
  await page.getByText(ENDED).waitFor();
  await page.unroute(calls);
  const second = await page.context().newPage();
  await second.goto(await browsers.link(accountId));
  await page.getByText("No active key").waitFor();
  // A tab that shows the end of its session also continues with the new session.
  await page.context().clearCookies();
  await page.reload();
  await page.getByRole("heading", { name: ENDED }).waitFor();
  // The second tab already shows the dashboard, so the browser does not load the page again for the link.
  await second.goto(await browsers.link(accountId));
  await page.getByText("No active key").waitFor();
});

it("a new secret stays until it is saved, even if another tab enters another account, or its reader signs out", async () => {
  const { page } = own;
  const { endpointId } = await own.createEndpoint();
  await page.clock.install();
  await own.open(`/endpoints/${endpointId}`);
  await own.button("Rotate secret").click();
  await own.press("Rotate secret");
  const secret = page.getByText("whsec_").first();
  await secret.waitFor();
  const stayed = page.waitForEvent("dialog");
  page.on("dialog", (dialog) => dialog.dismiss());
  const second = await page.context().newPage();
  await second.goto(await browsers.link(await createAccount(browsers.stack)));
  await second.getByRole("button", { name: "Open the other account" }).click();
  await stayed;
  // The page reads the endpoint again every half minute of its own clock.
  await page.clock.fastForward(30_000);
  await own.see("This endpoint no longer exists.");
  await secret.waitFor();
  await own.button("I saved it").click();
  await page.waitForURL(`${browsers.origin}/`);

  await own.goTo("Endpoints");
  await page.getByRole("link", { name: "Create endpoint" }).click();
  await page.getByLabel("URL", { exact: true }).fill("https://example.com/");
  await own.button("Create endpoint").click();
  await secret.waitFor();
  await page.getByRole("button", { name: /^Account/ }).click();
  await own.press("Sign out");
  await own.closed();
  await secret.waitFor();
  // Does not use check(), which looks at the box after the click: by then the page has gone.
  await page.getByLabel("I saved it").click();
  await page
    .getByRole("heading", { name: /^(You are signed out|Your session has ended)$/ })
    .waitFor();
});

it("a browser that drops the session's cookie is told so", async () => {
  const page = await (await browsers.window()).newPage();
  await page.route("**/*.SessionService/ExchangeCode", async (route) => {
    const response = await route.fetch();
    await page.context().clearCookies();
    const { "set-cookie": _, ...headers } = response.headers();
    await route.fulfill({ response, headers });
  });
  await page.goto(await browsers.link(own.accountId));
  await page.getByRole("heading", { name: "Your browser did not keep the session" }).waitFor();
});

it("the page continues, and signs in, by itself once the network or the service is back", async () => {
  const { page } = own;
  await own.markStatuses();
  await page.context().setOffline(true);
  await own.spoken("You are offline");
  await own.goTo("Endpoints");
  await page.context().setOffline(false);
  await own.see("No endpoint yet");
  expect(await page.getByText("You are offline").count()).toBe(0);

  const calls = "**/*.SessionService/GetSession";
  await page.route(calls, (route) => route.abort("internetdisconnected"));
  await page.clock.install();
  await page.reload();
  await own.see("Can't reach the service.");
  await page.unroute(calls);
  await page.clock.fastForward(5_000);
  await own.see("No endpoint yet");
});

it("the page shows the first failure of a call at once, and recovers by itself", async () => {
  const { page } = own;
  await page.clock.install();
  await own.open("/keys");
  await own.see("No active key");
  const shown = Promise.withResolvers<void>();
  let calls = 0;
  let isAway = false;
  await page.route("**/*.DeliveryService/ListDeliveries", async (route) => {
    calls += 1;
    // The second try ends only after the page showed the first failure.
    if (calls > 1) await shown.promise;
    await (isAway || calls === 1 ? route.abort("internetdisconnected") : route.continue());
  });
  await own.goTo("Deliveries");
  await own.see("Can't reach the service.");
  shown.resolve();
  await own.see("No deliveries yet");
  expect(await page.getByText("Can't reach the service.").count()).toBe(0);
  // The last data stays, with its time.
  isAway = true;
  await page.clock.fastForward(READ_AGAIN_MS);
  const stale = page.getByText("Can't refresh. Showing data from");
  await stale.locator("time").waitFor();
  expect(await page.getByText("No deliveries yet").count()).toBe(1);
  // The page must not show the rows of other filters as its last data.
  await page.getByLabel("State").selectOption("Failed");
  await own.see("Can't reach the service.");
  expect(await page.getByText("No deliveries yet").count()).toBe(0);
  await page.getByLabel("State").selectOption("All");
  await stale.waitFor();
  isAway = false;
  await page.clock.fastForward(READ_AGAIN_MS);
  await stale.waitFor({ state: "detached" });
  // A page that waits for changes reads its list again when the wait fails. Here this read fails too.
  const feed = "**/*.ActivityService/*";
  await page.route(feed, (route) => route.abort("internetdisconnected"));
  await page.route(feed, (route) => route.continue(), { times: 1 });
  await own.open("/activity");
  await stale.waitFor();
  await own.see("Nothing happened yet");
  await page.unroute(feed);
  await page.clock.fastForward(READ_AGAIN_MS);
  await stale.waitFor({ state: "detached" });
});

it("a link's code is sent again only by its reader, because its answer may be lost. ADR 0038", async () => {
  const url = await browsers.link(own.accountId);
  const page = await (await browsers.window()).newPage();
  await page.clock.install();
  let calls = 0;
  let isAway = true;
  await page.route("**/*.SessionService/ExchangeCode", async (route) => {
    calls += 1;
    await (isAway ? route.abort("internetdisconnected") : route.continue());
  });
  await page.goto(url);
  const failure = page.getByText("Can't reach the service.");
  for (const _ of [1, 2]) {
    await failure.waitFor();
    await page.clock.runFor(30_000);
  }
  isAway = false;
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  expect(calls).toBe(2);
});
