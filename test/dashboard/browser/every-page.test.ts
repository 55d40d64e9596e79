import { SessionScope } from "@activity/proto";
import { Code, ConnectError } from "@connectrpc/connect";
import { errorToJson } from "@connectrpc/connect/protocol-connect";
import { expect, it } from "vitest";
import { createApiKey } from "../../harness/builders.ts";
import { tellOfKeys, tellOfLink } from "../../harness/notices.ts";
import { useOwnPage } from "./harness-page.ts";

const own = useOwnPage();
const banner = () => own.page.getByRole("region", { name: "Needs your attention" });

it("an unknown path and an unknown delivery get a page that says so", async () => {
  await own.open("/nowhere");
  await own.page.getByRole("heading", { name: "Page not found" }).waitFor();
  await own.open("/deliveries/000000000000000");
  await own.see("This delivery no longer exists.");
});

it("an error that stays is spoken once, and its button keeps the focus. WCAG 4.1.3", async () => {
  await own.page.clock.install();
  const expectStill = async (waited: () => Promise<unknown>) => {
    await own.button("Try again").focus();
    await own.page.evaluate("alert = document.querySelector('[role=alert]')");
    const texts = () => own.page.locator("[role=alert]").allTextContents();
    const before = await texts();
    await waited();
    expect(await texts()).toEqual(before);
    expect(await own.page.evaluate("alert.contains(document.activeElement)")).toBe(true);
  };
  for (const path of ["/deliveries/000000000000000", "/endpoints/000000000000000"]) {
    await own.open(path);
    // Runs for longer than a page waits until it reads again.
    await expectStill(() => own.page.clock.runFor(31_000));
  }
  const { endpointId } = await own.createEndpoint();
  const refused = new ConnectError("", Code.PermissionDenied);
  for (const [path, method] of [
    ["/deliveries", "ListDeliveries"],
    ["/activity/don_000000000000000", "ListActivities"],
    ["/activity/don_000000000000000", "ListDeliveries"],
    [`/endpoints/${endpointId}`, "GetEndpointStats"],
    [`/endpoints/${endpointId}`, "ListDeliveries"],
    ["/endpoints", "ListEndpoints"],
    ["/keys", "ListApiKeys"],
  ] as const) {
    await own.page.route(`**/*/${method}`, (route) =>
      route.fulfill({ status: 403, json: errorToJson(refused, undefined) }),
    );
    await own.open(path);
    await expectStill(() => own.page.clock.runFor(61_000));
    await own.page.unroute(`**/*/${method}`);
  }
  let calls = 0;
  await own.page.route("**/*.SessionService/GetSession", async (route) => {
    calls += 1;
    await route.abort("internetdisconnected");
  });
  await own.page.reload();
  const triedAgain = async () => {
    await own.page.clock.runFor(5_000);
    return calls;
  };
  // The page shows the failure of the second try before it makes the third one.
  await expectStill(() => expect.poll(triedAgain).toBeGreaterThan(2));
});

it("an older browser says so, and does not use up the link", async () => {
  const url = await own.browsers.link(own.accountId);
  const without = (feature: string) => `const supports = CSS.supports.bind(CSS);
    CSS.supports = (...asked) => !asked.join().includes("${feature}") && supports(...asked);`;
  for (const script of ["delete Map.groupBy", without(":has("), without("light-dark(")]) {
    const page = await (await own.browsers.window()).newPage();
    await page.addInitScript(script);
    await page.goto(url);
    await page.getByRole("heading", { name: "Your browser is too old" }).waitFor();
  }
  const other = await (await own.browsers.window()).newPage();
  await other.goto(url);
  await other.getByRole("heading", { name: "Overview" }).waitFor();
});

it("a key can be created with the keyboard alone", async () => {
  await own.open("/keys");
  await own.button("Create key").waitFor();
  const { keyboard } = own.page;
  const focused = () => own.page.evaluate("document.activeElement.textContent");
  await keyboard.press("Tab");
  expect(await focused()).toBe("Skip to content");
  for (const key of ["Enter", "Tab", "Enter"]) await keyboard.press(key);
  await own.dialog().waitFor();
  await keyboard.type("By keyboard");
  await keyboard.press("Enter");
  await own.told("You won't see it again");
  expect(await focused()).toBe("Your new key");
  for (let tabs = 0; tabs < 10; tabs += 1) {
    await keyboard.press("Tab");
    if ((await focused()) === "I saved it") break;
  }
  await keyboard.press("Enter");
  await own.closed();
  expect(await focused()).toBe("Create key");
});

it("the reader chooses light or dark colours, which a reload keeps", async () => {
  const colour = () => own.page.evaluate("getComputedStyle(document.body).backgroundColor");
  const choose = async (theme: string) => {
    await own.page.getByRole("button", { name: /^Account:/ }).click();
    await own.dialog().getByLabel(theme).check();
    await own.press("Close");
    await own.closed();
  };
  const light = await colour();
  await choose("Dark");
  const dark = await colour();
  expect(dark).not.toBe(light);
  await own.page.reload();
  expect(await colour()).toBe(dark);
  await choose("System");
  expect(await colour()).toBe(light);
});

it("every page shows the most serious notice with one action, until it is dismissed. ADR 0054", async () => {
  const { database } = own.stack;
  for (const _ of [1, 2]) await createApiKey(own.stack, own.accountId);
  await tellOfLink(database, own.accountId);
  await tellOfKeys(database, own.accountId);
  for (const path of ["/", "/keys", "/endpoints", "/deliveries", "/activity"]) {
    await own.open(path);
    await banner().getByText("Somebody opened your link").waitFor();
    await banner().getByText("+ 2 more").waitFor();
  }
  await own.button("Dismiss").press("Enter");
  await banner().getByText("An API key ends on").waitFor();
  // Enter pressed twice must not find the next notice's button.
  await own.page.keyboard.press("Enter");
  // The second click of a double click hits the next notice's button, and must not dismiss that notice.
  await own.button("Dismiss").dblclick({ delay: 400 });
  await banner().getByText("more").waitFor({ state: "detached" });
  await own.page.reload();
  await banner().getByRole("link", { name: "Renew the key" }).click();
  await own.page.waitForURL("**/keys");
  await own.button("Dismiss").click();
  await banner().waitFor({ state: "detached" });
});

it("a session that may only read is offered no change", async () => {
  const { KEYS_READ, ENDPOINTS_READ, DELIVERIES_READ } = SessionScope;
  const scopes = [KEYS_READ, ENDPOINTS_READ, DELIVERIES_READ];
  const page = await own.browsers.signIn(own.accountId, { scopes });
  const changes = async () => {
    await page.getByText("To do:").first().waitFor();
    return page.getByRole("link", { name: /^(Create|Open|Renew) / }).count();
  };
  expect(await changes()).toBe(0);
  await createApiKey(own.stack, own.accountId);
  await tellOfKeys(own.stack.database, own.accountId);
  await page.reload();
  await page.getByRole("link", { name: "Show the keys" }).waitFor();
  expect(await changes()).toBe(0);
  await own.createEndpoint();
  await page.reload();
  expect(await changes()).toBe(0);
});

it("an owner whose link was reused signs out everywhere with one click. ADR 0054", async () => {
  await tellOfLink(own.stack.database, own.accountId);
  await own.page.reload();
  await banner().getByRole("button", { name: "Sign out everywhere" }).click();
  await own.page.getByRole("heading", { name: "You are signed out" }).waitFor();
});
