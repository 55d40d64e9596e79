import * as proto from "@activity/proto";
import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { errorToJson } from "@connectrpc/connect/protocol-connect";
import { describe, expect, it } from "vitest";
import { answer, writeAndReset } from "../../delivery/harness-receiver-behaviours.ts";
import { countAttemptsNow } from "../../harness/attempt-counting.ts";
import { stayWithinHour } from "../../harness/within-hour.ts";
import { useOwnPage } from "./harness-page.ts";

const SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/;
const own = useOwnPage();
/** Parses an event without its id and its times. */
const withoutIds = (text: string) =>
  JSON.parse(text.replace(/wev_[a-z0-9]{15}/, "").replace(/\d{4}-\d\d-\d\dT[^"]+Z/g, ""));

describe("endpoints", () => {
  /** `dashboard/src/endpoints/url-rules.test.ts` tests the text of each rule. */
  it("have a live check of their URL, and show the server's refusal in its words. §6", async () => {
    // Removes a function that Safari 17 does not have.
    await own.page.addInitScript("delete URL.parse");
    await own.open("/endpoints/new");
    const url = own.page.getByLabel("URL", { exact: true });
    await url.fill("http://example.com");
    await own.see("It must begin with https://.");
    await url.fill("https://192.0.2.1/");
    const refused = own.page.waitForResponse("**/*.EndpointService/CreateEndpoint");
    await own.button("Create endpoint").click();
    expect((await refused).status()).toBe(400);
    await own.see("The address must be public.");
    await url.fill("https://example.com/");
    await own.see("This URL has the right form.");
    expect(await own.page.getByRole("alert").count()).toBe(0);
  });

  it("may have been created if the core cannot tell, and the page says so", async () => {
    const value = create(proto.ErrorInfoSchema, { code: "temporarily_unavailable" });
    const details = [{ desc: proto.ErrorInfoSchema, value }];
    const error = new ConnectError("", Code.Unavailable, undefined, details);
    await own.page.route("**/*.EndpointService/CreateEndpoint", (route) =>
      route.fulfill({ status: 503, json: errorToJson(error, undefined) }),
    );
    await own.open("/endpoints/new");
    await own.page.getByLabel("URL", { exact: true }).fill("https://example.com/");
    await own.button("Create endpoint").click();
    await own.see("It may have been made. Check");
    own.browsers.expectClean([expect.stringContaining("503")]);
  });

  it.each([
    ["with", ""],
    ["without", "delete window.navigation"],
  ])(
    "show a new secret until its owner saved it, despite links, back and closing, %s the Navigation API. §6",
    async (_, script) => {
      await own.page.addInitScript(script);
      await own.open("/endpoints");
      await own.page.getByRole("link", { name: "Create endpoint" }).click();
      const url = own.page.getByLabel("URL", { exact: true });
      await url.fill(own.delivery.hookUrl);
      await url.press("Enter");
      const secret = await own.code("Signing secret");
      expect(await own.page.evaluate("document.activeElement.textContent")).toBe("Create endpoint");
      const isHeld = async () => {
        await own.page.getByRole("alert").filter({ hasText: "Save it before you leave" }).waitFor();
        expect(own.page.url()).toBe(`${own.browsers.origin}/endpoints/new`);
        expect(await own.code("Signing secret")).toBe(secret);
      };
      await own.goTo("Deliveries");
      await isHeld();
      const back = own.page.goBack(script === "" ? { timeout: 1_000 } : {});
      if (script === "") await expect(back).rejects.toThrow("Timeout");
      else await back;
      await isHeld();
      // Without a click in between, a browser lets a page block the back button only once.
      await own.page.goBack({ timeout: 1_000 }).catch(() => undefined);
      await isHeld();
      const asked = own.page.waitForEvent("dialog");
      await own.page.close({ runBeforeUnload: true });
      expect((await asked).type()).toBe("beforeunload");
      await (await asked).dismiss();
      await isHeld();
      await own.page.getByLabel("I saved it").check();
      await own.page.getByRole("alert").waitFor({ state: "detached" });
      await own.page.goBack();
      await own.row(own.delivery.hookUrl).waitFor();
      await own.expectForgotten(secret);
    },
  );

  it("are edited, switched off and on, and deleted", async () => {
    const { endpointId } = await own.createEndpoint();
    const endpoints = own.stack.client(proto.EndpointService);
    const read = async () =>
      (await endpoints.getEndpoint({ accountId: own.accountId, endpointId })).endpoint;
    await own.open(`/endpoints/${endpointId}`);
    await own.button("Edit").click();
    // The page's rules would refuse the test's address, but must show no error for an address that the server accepted.
    expect(await own.dialog().getByLabel("URL").getAttribute("aria-invalid")).toBe("false");
    await own.dialog().getByLabel("donation.refunded").uncheck();
    await own.dialog().getByLabel("Send the headers of Standard Webhooks too").check();
    const minimum = own.dialog().getByLabel("Minimum amount in €");
    await minimum.fill("10,555");
    await own.told("Write 0 or more, below 90 trillion, with at most two decimals");
    await minimum.fill("2,5");
    await own.dialog().getByLabel("Name").fill(" Shop ");
    await own.press("Save");
    await own.closed();
    const edited = await read();
    expect(edited).toMatchObject({ name: "Shop", url: own.delivery.hookUrl });
    expect(edited).toMatchObject({ standardWebhooks: true, minAmountCents: 250n });
    await own.see("€2.50");
    expect(edited?.kinds).not.toContain(proto.WebhookEventKind.DONATION_REFUNDED);

    await own.button("Switch off").click();
    await own.press("Switch off");
    await own.closed();
    await own.button("Switch on").waitFor();
    expect(await own.button("Send a test").count()).toBe(0);
    expect((await read())?.switchedOn).toBe(false);
    await own.button("Switch on").click();
    await own.button("Switch off").waitFor();
    expect((await read())?.switchedOn).toBe(true);

    // The answer is lost, but the endpoint is off. The next dialog must not show this error again.
    await own.page.route("**/*.EndpointService/SwitchOffEndpoint", async (route) => {
      await route.fetch();
      await route.abort("internetdisconnected");
    });
    await own.button("Switch off").click();
    await own.press("Switch off");
    await own.button("Switch on").click();
    await own.button("Switch off").click();
    await own.told("Switch this endpoint off?");
    expect(await own.dialog().getByRole("alert").count()).toBe(0);
    await own.press("Cancel");

    const deletes = "**/*.EndpointService/DeleteEndpoint";
    await own.page.route(deletes, (route) => route.abort("internetdisconnected"), { times: 1 });
    await own.button("Delete").click();
    await own.press("Delete");
    await own.told("It may have been made. Check");
    await own.press("Delete");
    await own.see("No endpoint yet");
    expect(own.page.url()).toBe(`${own.browsers.origin}/endpoints`);
    await own.page.goBack();
    await own.see("This endpoint no longer exists.");
    await own.button("Delete").waitFor({ state: "detached" });
  });

  it("have their secret rotated later or at once, and a pending rotation canceled. §6", async () => {
    const { endpointId, secret } = await own.createEndpoint();
    await own.open(`/endpoints/${endpointId}`);
    const rotate = async (when: string) => {
      await own.button("Rotate secret").click();
      await own.dialog().getByLabel(when).check();
      await own.press("Rotate secret");
    };
    await rotate("in 1 hour");
    await own.told("You won't see it again");
    const next = await own.code("Signing secret");
    expect(next).toMatch(SECRET);
    expect(next).not.toBe(secret);
    expect(await own.code("Accept both secrets")).toContain("[process.env.WEBHOOK_SECRET, ");
    await own.press("I saved it");
    await own.see("A new secret signs from");
    await own.expectForgotten(next);
    await rotate("at once");
    await own.told("A rotation is pending.");
    await own.press("Cancel");
    await own.button("Keep the old secret").click();
    await own.page.getByText("A new secret signs from").waitFor({ state: "detached" });
    const rotations = "**/*.EndpointService/RotateSecret";
    await own.page.route(rotations, (route) => route.abort("internetdisconnected"), { times: 1 });
    await rotate("at once");
    await own.told("Rotate again: the new secret may already sign.");
    await own.press("Rotate secret");
    expect(await own.code("Signing secret")).toMatch(SECRET);
  });

  it("get a test, and the page shows that it arrived or why it did not", async () => {
    const { endpointId } = await own.createEndpoint();
    await own.open(`/endpoints/${endpointId}`);
    await own.button("Send a test").click();
    await own.press("Send");
    await own.told("It arrived.");
    await own.dialog().getByLabel("Amount in €").fill("0");
    await own.told("Write an amount from 0.01 to 90 trillion, with at most two decimals");
    await own.dialog().getByLabel("Amount in €").fill("12.50");
    await own.dialog().getByLabel("Supporter").fill("Zoë 🎉");
    await own.dialog().getByLabel("Message").fill("");
    const send = own.dialog().getByRole("button", { name: "Send", exact: true });
    const before = own.delivery.receiver.requests.length;
    const kinds = ["subscription.created", "donation.chargeback", "donation.created"];
    for (const [sent, kind] of kinds.entries()) {
      await own.dialog().getByLabel("Event kind").selectOption(kind);
      const sample = withoutIds(await own.code("An example"));
      // The second click comes after the answer to the first one.
      await send.dblclick({ delay: 400 });
      await expect.poll(() => own.delivery.receiver.requests.length).toBe(before + sent + 1);
      expect(withoutIds(`${own.delivery.receiver.requests.at(-1)?.body}`)).toEqual(sample);
      expect(sample.data.amount_cents).toBe(1_250);
    }
    own.delivery.receiver.behaviour = answer(401);
    await own.dialog().getByLabel("Event kind").selectOption("donation.refunded");
    await own.press("Send");
    await own.told("It did not arrive. Signature refused");
    await own.told("Check the secret and the receiver's clock");
    own.delivery.receiver.behaviour = writeAndReset("");
    await own.press("Send");
    await own.told("the connection was reset");
    await own.dialog().getByRole("link", { name: "Show the delivery" }).click();
    await own.page.getByRole("heading", { name: "donation.refunded" }).waitFor();
    expect(await own.dialog().count()).toBe(0);
  });

  it("get a test of as many characters as the server takes, and no text is cut", async () => {
    const { endpointId } = await own.createEndpoint();
    await own.open(`/endpoints/${endpointId}`);
    await own.button("Send a test").click();
    await own.dialog().getByLabel("Supporter").fill("🎉".repeat(200));
    await own.dialog().getByLabel("Message").fill("🎉".repeat(4_001));
    await own.told("Too long: 4,001 of at most 4,000 characters.");
    await own.press("Send");
    await own.dialog().locator(":focus[aria-invalid=true]").waitFor();
    await own.dialog().getByLabel("Message").fill("🎉".repeat(4_000));
    await own.press("Send");
    await own.told("It arrived.");
    const { body } = own.delivery.receiver.requests.at(-1) ?? expect.unreachable();
    expect(JSON.parse(`${body}`).data.message).toBe("🎉".repeat(4_000));
  });

  it("get a test from a session that may not see deliveries, and the page says so", async () => {
    const { endpointId } = await own.createEndpoint();
    const scopes = [proto.SessionScope.ENDPOINTS_READ, proto.SessionScope.ENDPOINTS_WRITE];
    const page = await own.browsers.signIn(own.accountId, { scopes });
    await page.goto(`${own.browsers.origin}/endpoints/${endpointId}`);
    await page.getByRole("button", { name: "Send a test" }).click();
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await page.getByText("This session cannot see whether it arrives.").waitFor();
  });

  it("show their results of the last day, week and month", async () => {
    const { endpointId } = await own.createEndpoint();
    const { deliveryId } = await own.sendTest(endpointId);
    await own.page.clock.install();
    await own.open(`/endpoints/${endpointId}`);
    await own.page.getByRole("heading", { name: "Latest deliveries" }).waitFor();
    // The title shows only the URL's host: the browser's history keeps titles, and the path may hold a token.
    await expect.poll(() => own.page.title()).toMatch(/^[\w.-]+(:\d+)? · Activity$/);
    await own.until(deliveryId, proto.DeliveryState.DELIVERED);
    await countAttemptsNow(own.stack.database);
    // The page reads again every half minute of its own clock.
    await own.page.clock.fastForward(30_000);
    const facts = own.page.locator("dl").filter({ hasText: "Success rate" });
    await expect
      .poll(() => facts.textContent())
      .toMatch(
        /^Success rate100%Delivered1Failed0p50about [\d.]+ m?sp95about [\d.]+ m?sLongest[\d.]+ m?s$/,
      );
    const chart = own.page.getByRole("figure", { name: "1 delivered, 0 failed" });
    await chart.waitFor();
    // The page keeps its results while it cannot read those of the next hour.
    const stats = "**/*.EndpointService/GetEndpointStats";
    await own.page.route(stats, (route) => route.abort("internetdisconnected"));
    await own.page.clock.fastForward(3_600_000);
    const section = own.page.locator("section").filter({ has: facts });
    await section.getByText("Can't refresh. Showing data from").waitFor();
    for (const [range, bars] of Object.entries({ "7 days": 7, "30 days": 30 })) {
      await own.page.getByLabel(range).check();
      await expect.poll(() => chart.getByRole("listitem").count()).toBe(bars);
      await chart.getByRole("link").waitFor();
    }
    await own.page.unroute(stats);
    await own.open("/endpoints");
    await own.see(/^100% · [\d.]+ m?s$/);
  });

  it("show their attempts by class of status; a bar links to its deliveries and shows its numbers, which stay while the pointer moves to them", async () => {
    // A bar is an hour of attempts. Its link shows the deliveries that were created in that hour.
    await stayWithinHour();
    const { endpointId } = await own.fail(404);
    own.delivery.receiver.behaviour = answer(200);
    await own.until((await own.sendTest(endpointId)).deliveryId, proto.DeliveryState.DELIVERED);
    await own.sendTest((await own.createEndpoint()).endpointId);
    await countAttemptsNow(own.stack.database);
    await own.open(`/endpoints/${endpointId}`);
    const chart = own.page.getByRole("figure", { name: "1 delivered, 1 failed" });
    await chart.getByText("4xx 1", { exact: true }).waitFor();
    const bar = chart.getByRole("link", { name: /^\d\d:\d\d · Delivered 1 · 4xx 1$/ });
    const opacity = "getComputedStyle(document.querySelector('figure a > :last-child')).opacity";
    expect(await own.page.evaluate(opacity)).toBe("0");
    for (const y of [5, -8, -30]) await bar.hover({ position: { x: 5, y }, force: true });
    expect(await own.page.evaluate(opacity)).toBe("1");
    await bar.click();
    await own.page.getByRole("heading", { name: "Deliveries", exact: true }).waitFor();
    // One row of titles and two deliveries.
    await expect.poll(() => own.page.getByRole("row").count()).toBe(3);
  });
});
