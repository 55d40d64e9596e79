import { DeliveryState, DonationService, EndpointService } from "@activity/proto";
import type { Request, Route } from "playwright-core";
import { describe, expect, it } from "vitest";
import { answer } from "../../delivery/harness-receiver-behaviours.ts";
import {
  createApiKey,
  createPaidDonation,
  createPlatformEvent,
  importDonations,
} from "../../harness/builders.ts";
import { useOwnPage } from "./harness-page.ts";

const own = useOwnPage();
/** The time of a page's clock: the day after the deliveries of `writeDeliveries` were created. */
const BACKLOG_READ_MS = Date.UTC(2020, 8, 14);

it("the overview leads a new owner from a key to the first delivered event, then hides its checklist", async () => {
  const hasText = "This list disappears when every step is done.";
  const steps = own.page.locator("section").filter({ hasText });
  const open = () => steps.getByRole("listitem").filter({ hasText: "To do:" });
  await expect.poll(() => open().count()).toBe(4);
  await steps.getByRole("link", { name: "Create a key" }).waitFor();
  await createApiKey(own.stack, own.accountId);
  await own.page.clock.install();
  await own.page.reload();
  await steps.getByRole("link", { name: "Create an endpoint" }).waitFor();
  own.delivery.receiver.behaviour = answer(401);
  const { endpointId } = await own.createEndpoint();
  await own.page.reload();
  await steps.getByRole("link", { name: "Open the endpoint" }).waitFor();
  const test = async (state: DeliveryState) => {
    await own.until((await own.sendTest(endpointId)).deliveryId, state);
    // The page reads again every five seconds of its own clock.
    await own.page.clock.fastForward(5_000);
  };
  await test(DeliveryState.FAILED);
  await steps.getByText("Set the signing secret as WEBHOOK_SECRET").waitFor();
  await steps.getByRole("link", { name: "Show what happened" }).waitFor();
  expect(await open().count()).toBe(1);
  own.delivery.receiver.behaviour = answer(200);
  await test(DeliveryState.DELIVERED);
  await steps.waitFor({ state: "detached" });
});

it("the list to set up does not come back when old deliveries were removed, unless those since then fail", async () => {
  await own.page.clock.install();
  await createApiKey(own.stack, own.accountId);
  const { endpointId } = await own.createEndpoint();
  await own.page.reload();
  await own.see("To do: Send a test");
  const age = "UPDATE endpoint SET created_at = created_at - ? * 86400000000 WHERE id = ?";
  await own.stack.database.query(age, [29, endpointId]);
  await own.page.reload();
  await own.see("To do: Send a test");
  await own.stack.database.query(age, [1, endpointId]);
  await own.page.clock.fastForward(30_000);
  await own.page.getByText("To do:").first().waitFor({ state: "detached" });
  await own.open(`/endpoints/${endpointId}`);
  await own.see("They appear when a donation arrives or you send a test.");
  own.delivery.receiver.behaviour = answer(401);
  await own.until((await own.sendTest(endpointId)).deliveryId, DeliveryState.FAILED);
  await own.open("/");
  await own.see("To do: Answer it");
});

it("the overview names each endpoint with failed deliveries, however many another one has, and stops reading when it is left", async () => {
  const ids: string[] = [];
  for (const count of [5, 101]) {
    const { endpointId } = await own.createEndpoint();
    ids.push(endpointId);
    await own.writeDeliveries(endpointId, count, { state: DeliveryState.FAILED, attempts: 8 });
  }
  await own.page.clock.setSystemTime(BACKLOG_READ_MS);
  await own.page.reload();
  const attention = own.page.locator("section").filter({ hasText: "Needs your attention" });
  await attention.getByText("5 failed").waitFor();
  await attention.getByText("100+ failed").waitFor();
  const held = Promise.withResolvers<Request>();
  await own.page.route("**/*.DeliveryService/ListDeliveries", async (route) => {
    const asked = route.request();
    if (ids.some((id) => asked.postData()?.includes(id))) held.resolve(asked);
    else await route.continue();
  });
  await own.page.reload();
  const asked = await held.promise;
  // Waits for only ten seconds, because after 20 the deadline of the call would end it.
  const isAsked = { predicate: (request: Request) => request === asked, timeout: 10_000 };
  await Promise.all([own.page.waitForEvent("requestfailed", isAsked), own.goTo("Activity")]);
});

it("an endpoint that is switched off elsewhere keeps its open retry dialog on the overview", async () => {
  await own.page.clock.install();
  const { endpointId } = await own.fail(404);
  await own.page.reload();
  await own.page.getByRole("button", { name: /^Retry failed: / }).click();
  await own.told("1 delivery will be retried.");
  const { accountId } = own;
  await own.stack.client(EndpointService).switchOffEndpoint({ accountId, endpointId });
  // The page reads the endpoints again every half minute of its own clock.
  await own.page.clock.fastForward(30_000);
  const attention = own.page.locator("section").filter({ hasText: "Needs your attention" });
  await attention.getByText("Off", { exact: true }).waitFor();
  expect(await own.dialog().count()).toBe(1);
});

describe("activity", () => {
  it.each(["/", "/activity"])("is live at %s, also when a record goes. §3, §4.4", async (path) => {
    const { accountId } = own;
    await own.open(path);
    await own.see("Nothing happened yet");
    const ada = { donorName: "Ada", message: "Hello!" };
    const { externalId } = await createPaidDonation(own.stack, accountId, ada);
    const row = own.row("Ada");
    await row.getByText("€5.00").waitFor();
    await row.getByText("Hello!").waitFor();
    const refund = { accountId, externalId, refundExternalId: "refund", amountCents: 500n };
    await own.stack.client(DonationService).refundDonation(refund);
    await row.waitFor({ state: "detached" });
  });

  it("of somebody with a blank name is shown as without a name", async () => {
    const actor = { actorName: " " };
    const id = await createPlatformEvent(own.stack, own.accountId, actor);
    await own.open("/activity");
    await own.row("Follow").getByRole("link", { name: "no name" }).click();
    await own.page.waitForURL(`**/activity/evt_${id}*`);
    await own.page.getByRole("definition").filter({ hasText: "no name" }).waitFor();
  });

  it("of an import shows no deliveries, because it has none", async () => {
    const section = own.page.getByRole("heading", { name: "Deliveries", exact: true });
    const { recordId } = await createPaidDonation(own.stack, own.accountId, {});
    await own.open(`/activity/don_${recordId}`);
    await section.waitFor();
    await importDonations(own.stack, own.accountId, 1);
    await own.open("/activity");
    await own.row("CSV file").getByRole("link").click();
    await own.page.waitForURL("**/activity/don_*");
    await own.see("CSV file");
    await section.waitFor({ state: "detached" });
  });

  it("is live although a page takes longer than the next answer about a change. §3", async () => {
    await own.page.clock.install();
    await own.open("/activity");
    await own.see("Nothing happened yet");
    const asked = Promise.withResolvers<Route>();
    await own.page.route("**/*.ActivityService/ListActivities", asked.resolve);
    await createPaidDonation(own.stack, own.accountId, { donorName: "Ada" });
    const slow = await asked.promise;
    // Waits for two answers, because the second one shows that the page has read the first one.
    for (const _ of [1, 2]) {
      const answered = own.page.waitForResponse("**/*.ActivityService/WaitForActivity");
      await own.page.clock.fastForward(5_000);
      await answered;
    }
    await slow.continue();
    await own.row("Ada").waitFor();
  });

  it("is filtered by type, platform and time, and shows times with their zone, in UTC on hover. §4.2", async () => {
    await createPaidDonation(own.stack, own.accountId, { donorName: "Ada" });
    await own.open("/activity");
    const row = own.row("Ada");
    await row.waitFor();
    const time = row.locator("time");
    expect(await time.textContent()).toBe("just now");
    const iso = (await time.getAttribute("datetime")) ?? "";
    const utc = `${iso.slice(0, 19).replace("T", " ")} UTC`;
    const exact = (await row.getByRole("link").getAttribute("title")) ?? "";
    expect(exact).toMatch(/\d\d:\d\d:\d\d [A-Z]\S+ · /);
    expect(exact.endsWith(utc)).toBe(true);
    for (const [label, miss, hit] of [
      ["Type", "Raid", "Donation"],
      ["Platform", "CSV file", "Service"],
    ] as const) {
      await own.page.getByLabel(label).selectOption(miss);
      await own.see("Nothing matches");
      await own.page.getByLabel(label).selectOption(hit);
      await row.waitFor();
    }
    await own.page.getByLabel("24 hours").check();
    await row.waitFor();
    await own.page.getByLabel("Custom").check();
    await own.markStatuses();
    await own.page
      .getByLabel(/^Stored until \(Asia\/(Kolkata|Calcutta)\)$/)
      .fill("2020-01-01T00:00");
    await own.spoken("Nothing matches");
  });
});
