import { ApiKeyService, DeliveryState, DonationService } from "@activity/proto";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { afterEach, describe, expect, it } from "vitest";
import { answer } from "../../delivery/harness-receiver-behaviours.ts";
import { countAttemptsNow } from "../../harness/attempt-counting.ts";
import { createApiKey, createPaidDonation } from "../../harness/builders.ts";
import { OVERFLOW } from "./harness-browser.ts";
import { useOwnPage } from "./harness-page.ts";

/**
 * Each task begins at the overview and follows an owner's steps, in this look only. At 1280 px in light colours, `keys`
 * creates API keys, `endpoints` creates endpoints and rotates secrets, and `deliveries` and `bulk-retry` retry. `looks`
 * opens pages and dialogs in all four looks, but completes no task.
 */
describe("at a phone's width an owner", () => {
  const own = useOwnPage("/", { width: 390, colorScheme: "dark" });
  // Runs before the page is closed.
  afterEach(async () => expect(await own.page.evaluate(OVERFLOW)).toBe(0));

  it("renews a key for the longest time. §2.7", async () => {
    const keys = own.stack.client(ApiKeyService);
    const endMs = async () => {
      const { apiKeys } = await keys.listApiKeys({ accountId: own.accountId });
      return timestampMs(apiKeys[0]?.expiresAt ?? expect.unreachable("no key"));
    };
    await keys.createApiKey({ accountId: own.accountId, name: "Overlay", validityDays: 365 });
    const before = await endMs();
    await own.open("/");
    await own.goTo("API keys");
    await own.button("Renew: Overlay").click();
    expect(await own.dialog().getByLabel("365 days").isChecked()).toBe(true);
    const warning = own.dialog().getByText("this shortens the key's life");
    expect(await warning.count()).toBe(0);
    await own.dialog().getByLabel("90 days").check();
    await warning.waitFor();
    await own.dialog().getByLabel("365 days").check();
    await own.press("Renew");
    await own.closed();
    expect(await endMs()).toBeGreaterThan(before);
  });

  it("creates an endpoint, step by step to the first delivered test. §6", async () => {
    await own.goTo("Endpoints");
    await own.page.getByRole("link", { name: "Create endpoint" }).click();
    await own.page.getByLabel("URL", { exact: true }).fill(own.delivery.hookUrl);
    await own.page.getByLabel("Name").fill("Shop ✓");
    await own.page.getByLabel("donation.created").uncheck();
    await own.button("Create endpoint").click();
    await own.see("Choose at least one kind.");
    await own.page.getByLabel("donation.created").check();
    await own.button("Create endpoint").click();
    await own.see("You won't see it again");
    const secret = await own.code("Signing secret");
    expect(await own.code("Receive it in Node")).toContain("createExpressReceiver");
    for (const [language, code] of [
      ["Python", "hmac.compare_digest"],
      ["Go", "hmac.Equal"],
      ["PHP", "hash_equals"],
    ] as const) {
      await own.page.getByLabel(language).check();
      expect(await own.code(`Receive it in ${language}`)).toContain(code);
    }
    await own.button("Send a test").click();
    await own.see("It arrived.");
    await own.page.getByRole("heading", { name: "Done: Send a test" }).waitFor();
    await own.page.getByLabel("I saved it").check();
    await own.page.getByRole("link", { name: "Open the endpoint" }).click();
    await own.page.getByRole("heading", { name: "Shop ✓" }).waitFor();
    await own.expectForgotten(secret);
    await own.goTo("Deliveries");
    await own.row("Delivered").getByText("→ Shop ✓").waitFor();
  });

  it("sees which endpoint fails and why, and repairs it. §6.4", async () => {
    const { deliveryId } = await own.fail(404);
    await countAttemptsNow(own.stack.database);
    await own.page.reload();
    await own.page.getByRole("link", { name: "Endpoints 1 failing" }).click();
    const endpoint = own.row(own.delivery.hookUrl);
    await endpoint.getByText("Failing").waitFor();
    await endpoint.getByRole("link", { name: own.delivery.hookUrl }).click();
    await own.page.locator("main header").getByText("Failing").waitFor();
    await own.goTo("Overview");
    const attention = own.page.locator("section").filter({ hasText: "Needs your attention" });
    await attention.getByText("Failing").waitFor();
    await attention.getByText("1 failed · Route not found").waitFor();
    await own.page.getByRole("link", { name: "Failed: 1" }).waitFor();
    own.delivery.receiver.behaviour = answer(200);
    await attention.getByRole("button", { name: /^Retry failed/ }).click();
    await own.told("1 delivery will be retried.");
    await own.press("Retry failed");
    await own.told("1 delivery is on the way.");
    await own.press("Close");
    await own.until(deliveryId, DeliveryState.DELIVERED);
    await own.page.getByRole("link", { name: "Failed: 0" }).waitFor();
    await countAttemptsNow(own.stack.database);
    await own.page.reload();
    await own.page.getByRole("link", { name: "Delivered: 1" }).click();
    await own.row("Delivered").waitFor();
    await own.goTo("Endpoints");
    await endpoint.getByText(/^(Some fail|Healthy)$/).waitFor();
    expect(await own.page.getByRole("link", { name: "failing" }).count()).toBe(0);
  });

  it("retries one delivery at once. ADR 0053", async () => {
    const { eventId } = await own.fail(503);
    await own.open("/");
    await own.goTo("Deliveries");
    await own.row("Receiver busy").click();
    await own.see("check its capacity");
    own.delivery.receiver.behaviour = answer(200);
    await own.button("Retry now").click();
    await own.see("Your server answered with a 2xx status.");
    expect(own.delivery.requestsOf(eventId)).toHaveLength(2);
  });

  it("finds out whether Ada's donation arrived. §6.4", async () => {
    await own.createEndpoint();
    const { externalId } = await createPaidDonation(own.stack, own.accountId, { donorName: "Ada" });
    await own.open("/");
    await own.goTo("Activity");
    // The whole row is the link.
    await own.row("Ada").click();
    await own.page.getByRole("heading", { name: "Donation" }).waitFor();
    await own.row("→ 127.0.0.1").filter({ hasText: "Delivered" }).click();
    await own.see("Attempt 1");
    await own.page.getByRole("link", { name: "Ada · €5.00" }).click();
    await own.see("Stored");
    const donation = { accountId: own.accountId, externalId };
    const refund = { refundExternalId: "refund", amountCents: 500n };
    await own.stack.client(DonationService).refundDonation({ ...donation, ...refund });
    await own.see("The feed does not show it now.");
    await own.page.getByRole("main").getByRole("link", { name: "Activity" }).click();
    await own.see("Nothing happened yet");
  });

  it("revokes a key, which then works no longer. §2.7", async () => {
    const { text: apiKey } = await createApiKey(own.stack, own.accountId);
    const status = async () => (await own.stack.http("/api/v1/me", { apiKey })).status;
    expect(await status()).toBe(200);
    await own.open("/");
    await own.goTo("API keys");
    await own.button("Revoke: test").click();
    await own.press("Cancel");
    await own.closed();
    await own.button("Revoke: test").click();
    await own.press("Revoke");
    await own.closed();
    await own.see("No active key");
    // The button that had the focus is gone, so the page must have moved the focus.
    const focused = () => own.page.evaluate("document.activeElement.textContent");
    await expect.poll(focused).toBe("API keys");
    await own.page.getByText("1 expired or revoked key").click();
    await own.page.getByText("Revoked", { exact: true }).waitFor();
    expect(await status()).toBe(401);
  });
});
