import { DeliveryState, EndpointService, SessionScope } from "@activity/proto";
import type { Route } from "playwright-core";
import { describe, expect, it } from "vitest";
import { NOW_MICROS } from "../../../server/src/database/now.ts";
import { answer } from "../../delivery/harness-receiver-behaviours.ts";
import { useOwnPage } from "./harness-page.ts";

const own = useOwnPage();

const { FAILED, DELIVERED } = DeliveryState;
const HOUR_MS = 3_600_000;

describe("a bulk retry", () => {
  it("counts the failed deliveries of the chosen endpoint, then retries only these. §6.4", async () => {
    const { endpointId, deliveryId } = await own.fail(404);
    const other = await own.fail(404);
    await own.open("/deliveries");
    own.delivery.receiver.behaviour = answer(200);
    await own.button("Retry failed").click();
    const endpoint = own.dialog().getByLabel("Endpoint");
    const retry = own.dialog().getByRole("button", { name: "Retry failed" });
    expect(await endpoint.inputValue()).toBe("");
    await own.told("2 deliveries will be retried.");
    await endpoint.selectOption(endpointId);
    await own.told("1 delivery will be retried.");
    await own.dialog().getByLabel("Created until").fill("2020-01-01T00:00");
    await own.told("There is nothing to retry.");
    expect(await retry.getAttribute("aria-disabled")).toBe("true");
    await own.dialog().getByLabel("Created until").fill("");
    await own.told("1 delivery will be retried.");
    const from = own.dialog().getByLabel("Created from");
    const preset = await from.inputValue();
    await from.fill("");
    await own.told("Choose a time.");
    await from.fill(preset);
    await own.told("1 delivery will be retried.");
    const counts = "**/*.DeliveryService/CountRetriableDeliveries";
    await own.page.route(counts, (route) => route.abort("internetdisconnected"));
    await own.press("Retry failed");
    await own.told("1 delivery is on the way.");
    await own.told("Can't reach the service.");
    expect(await retry.getAttribute("aria-disabled")).toBe("true");
    await own.page.unroute(counts);
    await own.until(deliveryId, DELIVERED);
    expect(await own.stateOf(other.deliveryId)).toBe(FAILED);
    await own.dialog().getByLabel("Include delivered events").check();
    await own.told("1 delivery will be retried.");
    await own.dialog().getByLabel("Include delivered events").uncheck();
    await endpoint.selectOption(other.endpointId);
    await own.told("1 delivery will be retried.");
    // Dates the first bulk retry now, because the steps since then may take more than a minute.
    const retriedNow = `UPDATE account SET bulk_retried_at = ${NOW_MICROS} WHERE id = ?`;
    await own.stack.database.query(retriedNow, [own.accountId]);
    await own.press("Retry failed");
    await own.told("1 time per minute");
    await own.press("Close");
    await own.closed();
    await own.page.getByRole("combobox", { name: "Endpoint" }).selectOption(other.endpointId);
    await own.button("Retry failed").click();
    expect(await endpoint.inputValue()).toBe(other.endpointId);
  });

  it("begins with all endpoints if the list's endpoint was deleted. §6.4", async () => {
    const { endpointId } = await own.fail(404);
    await own.fail(404);
    const deleted = { accountId: own.accountId, endpointId };
    await own.stack.client(EndpointService).deleteEndpoint(deleted);
    await own.open(`/deliveries?endpoint=${endpointId}`);
    await own.button("Retry failed").click();
    await own.told("1 delivery will be retried.");
    await own.told("This ignores the list's filters for state, event id or a deleted endpoint.");
    expect(await own.dialog().getByLabel("Endpoint").inputValue()).toBe("");
  });

  it("keeps a chosen endpoint that is deleted meanwhile, and says that it is deleted. §6.4", async () => {
    await own.page.clock.install();
    const { endpointId } = await own.fail(404);
    await own.fail(404);
    await own.open("/deliveries");
    await own.button("Retry failed").click();
    const endpoint = own.dialog().getByLabel("Endpoint");
    await endpoint.selectOption(endpointId);
    await own.told("1 delivery will be retried.");
    const deleted = { accountId: own.accountId, endpointId };
    await own.stack.client(EndpointService).deleteEndpoint(deleted);
    // The page reads the endpoints again every half minute of its own clock.
    await own.page.clock.fastForward(30_000);
    await expect
      .poll(() => endpoint.locator("option:checked").textContent())
      .toBe("Deleted endpoint");
    await endpoint.selectOption("All endpoints");
    await own.told("1 delivery will be retried.");
    expect(await endpoint.locator("option").allTextContents()).not.toContain("Deleted endpoint");
  });

  it("of a list with only an end takes the day before that end. §6.4", async () => {
    const { endpointId } = await own.createEndpoint();
    await own.writeDeliveries(endpointId, 1, { state: FAILED, attempts: 8 });
    await own.open("/deliveries?span=custom&until=2020-09-14T00:00");
    await own.row("Failed").waitFor();
    await own.button("Retry failed").click();
    await own.told("1 delivery will be retried.");
  });

  it("takes only the list's endpoint, also if the session may not see endpoints. §6.4", async () => {
    const { endpointId } = await own.fail(404);
    await own.fail(404);
    const scopes = [SessionScope.DELIVERIES_WRITE];
    const page = await own.browsers.signIn(own.accountId, { scopes });
    await page.goto(`${own.browsers.origin}/deliveries?endpoint=${endpointId}`);
    await page.getByRole("button", { name: "Retry failed" }).click();
    await page.getByText("1 delivery will be retried.").waitFor();
  });

  it("takes the newest deliveries although the browser's clock is slow. §6.4", async () => {
    const { deliveryId } = await own.fail(404);
    own.delivery.receiver.behaviour = answer(200);
    await own.page.clock.setSystemTime(Date.now() - HOUR_MS);
    await own.open("/deliveries");
    await own.button("Retry failed").click();
    await own.told("1 delivery will be retried.");
    await own.press("Retry failed");
    await own.told("1 delivery is on the way.");
    await own.until(deliveryId, DELIVERED);
  });

  it("does not begin while its end is half typed. §6.4", async () => {
    await own.fail(404);
    await own.open("/deliveries");
    let sent = 0;
    own.page.on("request", (request) => {
      if (request.url().endsWith("/RetryFailedDeliveries")) sent += 1;
    });
    await own.button("Retry failed").click();
    await own.dialog().getByLabel("Created until").focus();
    await own.page.keyboard.type("01012020");
    await own.told("1 delivery will be retried.");
    await own.press("Retry failed");
    // The browser itself shows at the field that the input is incomplete.
    expect(await own.page.evaluate("document.activeElement.validity.badInput")).toBe(true);
    expect(sent).toBe(0);
    await own.dialog().getByLabel("Created until").fill("2020-01-01T00:00");
    await own.told("There is nothing to retry.");
  });

  it("takes the kind and the outcome from the list's filters. §6.4", async () => {
    const notFound = await own.fail(404);
    const rejected = await own.fail(400);
    own.delivery.receiver.behaviour = answer(200);
    await own.open("/deliveries");
    const filter = (label: string) => own.page.locator("main").getByLabel(label, { exact: true });
    await filter("Kind").selectOption("donation.refunded");
    await filter("Outcome").selectOption("Rejected");
    await filter("State").selectOption("Failed");
    await own.button("Retry failed").click();
    await own.told("This ignores the list's filters for state, event id");
    await own.told("There is nothing to retry.");
    await own.dialog().getByLabel("Kind").selectOption("donation.created");
    await own.told("1 delivery will be retried.");
    await own.press("Retry failed");
    await own.told("1 delivery is on the way.");
    await own.until(rejected.deliveryId, DELIVERED);
    expect(await own.stateOf(notFound.deliveryId)).toBe(FAILED);
  });

  it("ADR 0053: of all endpoints goes part by part, can be stopped, and continues", async () => {
    for (const { endpointId } of [await own.createEndpoint(), await own.createEndpoint()]) {
      await own.writeDeliveries(endpointId, 130, { state: FAILED, attempts: 1 });
    }
    const second = Promise.withResolvers<void>();
    const stopped = Promise.withResolvers<void>();
    let asked = 0;
    const retries = "**/*.DeliveryService/RetryFailedDeliveries";
    await own.page.route(retries, async (route) => {
      asked += 1;
      if (asked === 2) {
        second.resolve();
        await stopped.promise;
      }
      await route.continue();
    });
    await own.open("/deliveries");
    await own.button("Retry failed").click();
    await own.dialog().getByLabel("Created from").fill("2020-01-01T00:00");
    await own.told("260 deliveries will be retried.");
    await own.page.route(retries, (route) => route.abort("internetdisconnected"), { times: 1 });
    await own.press("Retry failed");
    await own.told("It may have been made. Check");
    await own.markStatuses();
    await own.dialog().getByLabel("Created from").press("Enter");
    await second.promise;
    await own.told("100 of 260 on the way");
    // The focus has left the field, because the field is disabled now.
    expect(await own.dialog().locator(":focus").textContent()).toBe("Retry failed deliveries");
    await own.dialog().getByRole("progressbar").waitFor();
    await own.press("Stop");
    stopped.resolve();
    await own.spoken("Stopped. 130 deliveries are on the way.");
    expect(asked).toBe(2);
    await own.press("Continue");
    await own.spoken("260 deliveries are on the way.");
  });

  it("ADR 0053: requests no further part once its dialog is closed", async () => {
    // Each delivery has its own endpoint, so the bulk retry has two parts: a part has deliveries of one endpoint.
    for (let count = 0; count < 2; count += 1) await own.fail(404);
    const parts: Route[] = [];
    await own.page.route("**/RetryFailedDeliveries", (route) => void parts.push(route));
    await own.open("/deliveries");
    await own.button("Retry failed").click();
    await own.told("2 deliveries will be retried.");
    await own.press("Retry failed");
    await expect.poll(() => parts.length).toBe(1);
    await own.page.keyboard.press("Escape");
    await own.closed();
    const listed = own.page.waitForRequest("**/ListDeliveries");
    await parts[0]?.continue();
    await listed;
    expect(parts).toHaveLength(1);
  });
});
