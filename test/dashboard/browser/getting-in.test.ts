import { AccountService, SessionScope } from "@activity/proto";
import { afterEach, expect, it } from "vitest";
import { createAccount } from "../../harness/builders.ts";
import { useStarted } from "../../harness/use-started.ts";
import { startBrowserStack } from "./harness-browser.ts";

const browsers = useStarted(startBrowserStack);
afterEach(() => browsers.expectClean());

const ENDED = "Your session has ended";
const USED_UP = "This link no longer works";

it("lets the reader in once, and keeps the code out of address and history", async () => {
  const url = await browsers.link(await createAccount(browsers.stack));
  const page = await (await browsers.window()).newPage();
  await page.goto(url);
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  expect(page.url()).toBe(`${browsers.origin}/`);
  await page.reload();
  await page.getByRole("heading", { name: "Overview" }).waitFor();

  const other = await (await browsers.window()).newPage();
  await other.goto(url);
  await other.getByRole("heading", { name: USED_UP }).waitFor();
  expect(other.url()).toBe(`${browsers.origin}/`);
});

it("says that a link has expired, and what to do", async () => {
  const url = await browsers.link(await createAccount(browsers.stack));
  await browsers.stack.database.query("UPDATE session_link SET expires_at = 1");
  const page = await (await browsers.window()).newPage();
  await page.goto(url);
  await page.getByRole("heading", { name: USED_UP }).waitFor();
  await page.getByText("for five minutes").waitFor();
});

it("asks who has no session for a new link", async () => {
  const page = await (await browsers.window()).newPage();
  await page.goto(`${browsers.origin}/deliveries`);
  await page.getByRole("heading", { name: ENDED }).waitFor();
});

it("says so when the session ends in the middle, in every tab of the window", async () => {
  const accountId = await createAccount(browsers.stack);
  const page = await browsers.signIn(accountId);
  const second = await page.context().newPage();
  await second.goto(`${browsers.origin}/deliveries`);
  await second.getByRole("heading", { name: "Deliveries", exact: true }).waitFor();
  await browsers.stack.client(AccountService).blockAccount({ accountId });
  await page.getByRole("link", { name: "Deliveries" }).click();
  await page.getByRole("heading", { name: ENDED }).waitFor();
  // It reads the list again by itself.
  await second.getByRole("heading", { name: ENDED }).waitFor();
});

it("signs out in this browser, and everywhere", async () => {
  const accountId = await createAccount(browsers.stack);
  const page = await browsers.signIn(accountId);
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

it("leads back to the site that made the link, also once the session is over. ADR 0038", async () => {
  const accountId = await createAccount(browsers.stack);
  const site = "https://www.example.com/me";
  const page = await (await browsers.window()).newPage();
  await page.goto(await browsers.link(accountId, undefined, site));
  const back = page.getByRole("link", { name: "Back to your site" });
  await back.waitFor();
  expect(await back.getAttribute("href")).toBe(site);
  await browsers.stack.client(AccountService).blockAccount({ accountId });
  // The page polls, so it may end by itself before anything could be clicked.
  await page.getByRole("heading", { name: ENDED }).waitFor();
  expect(await back.getAttribute("href")).toBe(site);
  const other = await browsers.signIn(await createAccount(browsers.stack));
  expect(await other.getByRole("link", { name: "Back to your site" }).count()).toBe(0);
});

it("shows a session only what it may see and do", async () => {
  const accountId = await createAccount(browsers.stack);
  const page = await browsers.signIn(accountId, { scopes: [SessionScope.ENDPOINTS_READ] });
  await page.getByRole("heading", { name: "Endpoints", exact: true }).waitFor();
  expect(await page.getByRole("navigation").getByRole("link").allTextContents()).toEqual([
    "Endpoints",
  ]);
  expect(await page.getByRole("button", { name: "Create endpoint" }).count()).toBe(0);
  await page.goto(`${browsers.origin}/keys`);
  await page.getByRole("heading", { name: "Nothing to see" }).waitFor();
});

it("begins anew in a tab whose browser was let into another account meanwhile", async () => {
  const name = async (accountId: string) =>
    (await browsers.stack.client(AccountService).getAccount({ accountId })).account?.username ?? "";
  const page = await browsers.signIn(await createAccount(browsers.stack));
  await page.getByRole("link", { name: "API keys" }).click();
  const otherId = await createAccount(browsers.stack);
  const second = await page.context().newPage();
  await second.goto(await browsers.link(otherId));
  await second.getByRole("button", { name: "Open the other account" }).click();
  await second.getByRole("navigation").waitFor();
  // As when the tab is looked at again.
  await page.evaluate("window.dispatchEvent(new Event('visibilitychange'))");
  await page.waitForURL(`${browsers.origin}/`);
  await page.waitForLoadState();
  await page.getByRole("button", { name: /^Account/ }).click();
  await page
    .getByRole("dialog")
    .getByText(await name(otherId))
    .waitFor();
});

it("goes on by itself once the network is back", async () => {
  const page = await browsers.signIn(await createAccount(browsers.stack));
  await page.context().setOffline(true);
  await page.getByText("You are offline").waitFor();
  await page.getByRole("link", { name: "Endpoints" }).click();
  await page.context().setOffline(false);
  await page.getByText("No endpoint yet").waitFor();
  expect(await page.getByText("You are offline").count()).toBe(0);
});

it("tells the first failure of a call at once, and recovers by itself", async () => {
  const page = await browsers.signIn(await createAccount(browsers.stack));
  const told = Promise.withResolvers<void>();
  let calls = 0;
  let isAway = false;
  await page.route("**/*.DeliveryService/ListDeliveries", async (route) => {
    calls += 1;
    // No second try has ended when the page tells the first.
    if (calls > 1) await told.promise;
    await (isAway || calls === 1 ? route.abort("internetdisconnected") : route.continue());
  });
  await page.getByRole("link", { name: "Deliveries" }).click();
  await page.getByText("Can't reach the service.").waitFor();
  told.resolve();
  await page.getByText("No deliveries yet").waitFor();
  expect(await page.getByText("Can't reach the service.").count()).toBe(0);
  // What was read before stays, with its time.
  isAway = true;
  const stale = page.getByText("Can't refresh. Showing data from");
  await stale.locator("time").waitFor();
  expect(await page.getByText("No deliveries yet").count()).toBe(1);
  isAway = false;
  await stale.waitFor({ state: "detached" });
});

it("lets the reader in by itself once the service is back", async () => {
  const page = await browsers.signIn(await createAccount(browsers.stack));
  const calls = "**/*.SessionService/GetSession";
  await page.route(calls, (route) => route.abort("internetdisconnected"));
  await page.reload();
  await page.getByText("Can't reach the service.").waitFor();
  await page.unroute(calls);
  await page.getByRole("heading", { name: "Overview" }).waitFor();
});

it("keeps the cookie from scripts, and no code, key or secret in the browser's storage", async () => {
  const page = await browsers.signIn(await createAccount(browsers.stack));
  expect(await page.evaluate("document.cookie")).toBe("");
  expect(await page.evaluate("localStorage.length + sessionStorage.length")).toBe(0);
  const [cookie] = await page.context().cookies();
  expect(cookie).toMatchObject({
    name: "__Host-session",
    httpOnly: true,
    secure: true,
    sameSite: "Strict",
  });
});

it("asks before a link enters another account. ADR 0038", async () => {
  const page = await browsers.signIn(await createAccount(browsers.stack));
  const url = await browsers.link(await createAccount(browsers.stack));
  await page.goto(url);
  await page.getByRole("heading", { name: "This link opens another account" }).waitFor();
  await page.getByRole("link", { name: "Stay where I am" }).click();
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  await page.goto("about:blank");
  await page.goto(url);
  await page.getByRole("button", { name: "Open the other account" }).click();
  await page.getByRole("heading", { name: "Overview" }).waitFor();
});
