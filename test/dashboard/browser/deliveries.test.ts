import { readFileSync } from "node:fs";
import { AttemptOutcome, DeliveryState, DonationService, EndpointService } from "@activity/proto";
import { describe, expect, it } from "vitest";
import { answer } from "../../delivery/harness-receiver-behaviours.ts";
import { createPaidDonation } from "../../harness/builders.ts";
import { useOwnPage } from "./harness-page.ts";

const own = useOwnPage();

describe("deliveries", () => {
  it("are watched from failing through a manual retry to delivered. §6.4", async () => {
    const { deliveryId, eventId } = await own.fail(404);
    await own.page.getByRole("link", { name: "Deliveries" }).click();
    await own.row("Route not found").getByRole("link").first().click();
    await own.see("Attempt 1");
    // The run has ended, so the page must promise no further attempt.
    expect(await own.page.getByText("1 of 8").count()).toBe(0);
    await own.see("the receiver's own words");
    await own.see("Check the route");
    await own.see(`"id": "${eventId}"`);
    await own.page.getByText("Headers received").first().click();
    await own.see("content-length: 24");
    await own.page.getByText("Headers of the request", { exact: true }).first().click();
    await own.see("Service-Signature: v1=<HMAC-SHA256");
    await own.see("With Standard Webhooks on, webhook-id, webhook-timestamp and webhook-signature");
    await own.button("Copy: receiver-kit send").click();
    const copied = await own.page.evaluate("navigator.clipboard.readText()");
    expect(copied).toMatch(/"}}' \| npx receiver-kit send 'https?:\S+' --body -$/);
    own.delivery.receiver.behaviour = answer(200);
    await own.markStatuses();
    await own.button("Retry").click();
    await own.spoken("Your server answered with a 2xx status.");
    await own.page.getByRole("heading", { name: "Manual retry 1" }).waitFor();
    expect(await own.button("Retry").count()).toBe(0);
    // Delays the page's next read, so that the page still shows the previous run when the owner clicks again.
    const reread = Promise.withResolvers<void>();
    await own.page.route("**/*.DeliveryService/GetDelivery", async (route) => {
      await reread.promise;
      await route.continue();
    });
    let sent = 0;
    own.page.on("request", (request) => {
      if (request.url().endsWith("/RetryDelivery")) sent += 1;
    });
    await own.button("Send again").click();
    await expect.poll(() => own.delivery.requestsOf(eventId).length).toBe(3);
    await own.until(deliveryId, DeliveryState.DELIVERED);
    await own.button("Send again").click({ force: true });
    reread.resolve();
    await own.page.getByRole("heading", { name: "Manual retry 2" }).waitFor();
    expect(sent).toBe(1);
  });

  it("count down to the next attempt, wait while their endpoint is off, and are canceled when it is deleted. §6.4", async () => {
    const { deliveryId, endpointId } = await own.fail(503);
    await own.open(`/deliveries/${deliveryId}`);
    await own.see("1 of 8");
    await own.see("We retry it.");
    const timer = own.page.getByRole("timer");
    await timer.filter({ hasText: /in \d+ s/ }).waitFor();
    const first = await timer.textContent();
    await expect.poll(() => timer.textContent()).not.toBe(first);
    const endpoint = { accountId: own.accountId, endpointId };
    const endpoints = own.stack.client(EndpointService);
    await endpoints.switchOffEndpoint(endpoint);
    await own.page.reload();
    await own.see("Switch it on to continue.");
    expect(await own.page.getByText("We retry it").count()).toBe(0);
    await endpoints.deleteEndpoint(endpoint);
    // Polls, because the page may still use a list of endpoints that it read before the deletion.
    const canceled = async () => {
      await own.open(`/deliveries/${deliveryId}`);
      await own.see("Attempt 1");
      return own.page.getByText("The endpoint was switched off or deleted").count();
    };
    await expect.poll(canceled).toBe(1);
    expect(await timer.count()).toBe(0);
    expect(await own.button("Retry").count()).toBe(0);
    await own.open("/deliveries");
    await own.row("Canceled").getByText("deleted endpoint").waitFor();
    const filter = own.page.getByRole("combobox", { name: "Endpoint" });
    expect(await filter.locator("option").allTextContents()).toEqual(["All"]);
    await own.open(`/deliveries?endpoint=${endpointId}`);
    await own.row("Canceled").waitFor();
    await expect
      .poll(() => filter.locator("option:checked").textContent())
      .toBe("Deleted endpoint");
    await filter.selectOption("All");
    expect(new URL(own.page.url()).search).toBe("");
    expect(await own.page.getByText("1 of 8").count()).toBe(0);
  });

  it("whose last attempt failed promise no further one. If the DNS gave no address, no request is shown. §6.4", async () => {
    const { endpointId } = await own.createEndpoint();
    for (const [outcome, name, advice, requests] of [
      [AttemptOutcome.TIMEOUT, "Timed out", /check the address.* before you answer/, 1],
      [AttemptOutcome.DNS_FAILED, "Name not resolved", "the host name did not resolve", 0],
    ] as const) {
      const failed = { state: DeliveryState.FAILED, attempts: 8 };
      const [deliveryId] = await own.writeDeliveries(endpointId, 1, failed);
      await own.stack.database.query(
        `INSERT INTO delivery_attempt (account_no, delivery_id, run, attempt, started_at, duration, outcome,
           response_body)
         SELECT account_no, id, run, attempts, 0, 0, ?, '' FROM delivery WHERE id = ?`,
        [outcome, deliveryId],
      );
      await own.open(`/deliveries/${deliveryId}`);
      await own.see(name);
      await own.see(advice);
      expect(await own.page.getByText("We retry it").count()).toBe(0);
      const headers = own.page
        .locator("summary")
        .filter({ hasText: "Headers of the request, if it was sent" });
      expect(await headers.count()).toBe(requests);
    }
  });

  it("cannot be sent again once their donation is deleted. §6.4", async () => {
    const { accountId } = own;
    await own.createEndpoint();
    const { externalId } = await createPaidDonation(own.stack, accountId);
    await own.open("/deliveries");
    await own.row("Delivered").getByRole("link").first().click();
    await own.button("Send again").waitFor();
    await own.stack.client(DonationService).deleteDonation({ accountId, externalId });
    await own.button("Send again").waitFor({ state: "detached" });
    await own.see("Attempt 1");
  });

  it("of a test that was canceled before its first attempt are shown with the reason", async () => {
    const { endpointId } = await own.createEndpoint();
    const canceled = { state: DeliveryState.CANCELED, attempts: 0 };
    const [deliveryId] = await own.writeDeliveries(endpointId, 1, canceled);
    // Names a canceled delivery, because a real test reaches its receiver before anybody can switch off its endpoint.
    await own.page.route("**/*.EndpointService/SendTest", (route) =>
      route.fulfill({ json: { deliveryId } }),
    );
    await own.open(`/endpoints/${endpointId}`);
    await own.button("Send a test").click();
    await own.press("Send");
    await own.told("The endpoint was switched off or deleted, or the account was blocked");
  });

  it("are found by endpoint, state, kind, outcome, event and time; reload and back keep it", async () => {
    const { endpointId, eventId } = await own.fail(404);
    own.delivery.receiver.behaviour = answer(200);
    await createPaidDonation(own.stack, own.accountId);
    await own.open("/deliveries");
    const rows = async () => (await own.page.getByRole("row").count()) - 1;
    await expect.poll(rows).toBe(2);
    const clear = async () => {
      await own.button("Clear filters").click();
      await expect.poll(rows).toBe(2);
    };
    for (const [label, choice, found] of [
      ["State", "Failed", 1],
      ["Outcome", "Route not found", 1],
      ["Kind", "donation.created", 2],
    ] as const) {
      await own.page.getByLabel(label).selectOption(choice);
      await expect.poll(rows).toBe(found);
      await own.page.reload();
      await expect.poll(rows).toBe(found);
      await clear();
    }
    await own.page.getByRole("combobox", { name: "Endpoint" }).selectOption(endpointId);
    await expect.poll(rows).toBe(2);
    await own.page.getByLabel("Event id").fill(eventId.slice(0, -1));
    await own.see("Enter the whole id");
    expect(await own.page.getByRole("alert").count()).toBe(0);
    await expect.poll(rows).toBe(2);
    await own.page.getByLabel("Event id").fill(eventId);
    await expect.poll(rows).toBe(1);
    await own.page.getByRole("row").nth(1).getByRole("link").first().click();
    await own.see("Attempt 1");
    await own.page.goBack();
    expect(await own.page.getByLabel("Event id").inputValue()).toBe(eventId);
    await expect.poll(rows).toBe(1);
    await clear();
    await own.page.getByLabel("Last hour").check();
    await expect.poll(rows).toBe(2);
    await own.page.getByLabel("Custom").check();
    await own.markStatuses();
    await own.page.getByLabel("Until").fill("2020-01-01T00:00");
    await own.spoken("No delivery matches");
    await clear();
    await own.page.getByLabel("Custom").check();
    await own.page.getByLabel("From").fill("2020-01-01T00:00");
    await expect.poll(rows).toBe(2);
    await own.open("/deliveries?endpoint=junk");
    await expect.poll(rows).toBe(2);
    const endpoint = own.page.getByRole("combobox", { name: "Endpoint" });
    expect(await endpoint.inputValue()).toBe("");
  });

  it("are read every five seconds only while the reader follows them", async () => {
    await own.page.clock.install();
    await own.open("/deliveries");
    await own.see("No deliveries yet");
    const follow = own.page.getByLabel("Follow live");
    await follow.uncheck();
    let read = 0;
    own.page.on("request", (request) => {
      if (request.url().endsWith("/ListDeliveries")) read += 1;
    });
    await own.fail(404);
    await own.page.clock.fastForward(10_000);
    // Sends a request: a read of the page would have been sent before it.
    await own.page.evaluate("fetch('/icon.svg')");
    expect(read).toBe(0);
    await follow.check();
    await own.page.clock.fastForward(5_000);
    await own.row("Failed").waitFor();
  });

  it("that the filters match are shown page by page on demand, and are all saved as a CSV file", async () => {
    const { endpointId } = await own.createEndpoint();
    for (const state of [DeliveryState.FAILED, DeliveryState.CANCELED]) {
      await own.writeDeliveries(endpointId, 130, { state, attempts: 1 });
    }
    await own.open(`/deliveries?state=${DeliveryState.FAILED}`);
    // The first row has the titles.
    for (const [before, rows] of [
      [51, 101],
      [101, 131],
    ]) {
      await own.button("Show older").click();
      await expect.poll(() => own.page.getByRole("row").count()).toBe(rows);
      // The reader stays where the older rows begin.
      const top = `document.querySelectorAll("tr")[${before}].getBoundingClientRect().top`;
      expect(await own.page.evaluate(`${top} > 0 && ${top} < innerHeight`)).toBe(true);
    }
    expect(await own.button("Show older").count()).toBe(0);
    // The next Tab or Shift+Tab begins at the end of the list.
    await own.page.keyboard.press("Shift+Tab");
    expect(await own.page.evaluate("document.activeElement.closest('tr')?.rowIndex")).toBe(130);
    await own.see("Live updates stop while older deliveries are shown.");
    const download = own.page.waitForEvent("download");
    await own.button("Download CSV").click();
    const lines = readFileSync(await (await download).path(), "utf8")
      .trimEnd()
      .split("\r\n");
    expect(lines).toHaveLength(131);
    expect(lines.slice(1).every((line) => line.includes(",Failed,1,"))).toBe(true);
  });
});
