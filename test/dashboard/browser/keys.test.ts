import { type ApiKey, ApiKeyService } from "@activity/proto";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { createApiKey } from "../../harness/builders.ts";
import { useOwnPage } from "./harness-page.ts";

const KEY = /^act_live_[0-9a-f]{64}$/;
/** 2026-05-04T03:02:01Z in microseconds since 1970. */
const USED_AT = 1_777_863_721_000_000;
const own = useOwnPage("/keys");

describe("keys", () => {
  it("are created, shown once, renewed and revoked. §2.7", async () => {
    await own.button("Create key").click();
    await own.press("Create key");
    await own.told("Give the key a name");
    await own.dialog().getByLabel("Name").fill("Overlay");
    await own.dialog().getByLabel("30 days").check();
    await own.press("Create key");
    await own.told("You won't see it again");
    const key = await own.code("API key");
    expect(key).toMatch(KEY);
    const command = await own.code("Try it");
    expect(command).toContain(`Bearer ${key}`);
    expect(command).toContain('"https://api.example.com/api/v1/activity?limit=5"');
    await own.dialog().getByRole("button", { name: "Copy: API key" }).click();
    await own.dialog().getByRole("status").filter({ hasText: "Copied" }).waitFor();
    expect(await own.page.evaluate("navigator.clipboard.readText()")).toBe(key);
    await own.page.keyboard.press("Escape");
    await own.page.keyboard.press("Escape");
    expect(await own.dialog().count()).toBe(1);
    const used = await own.stack.http("/api/v1/me", { apiKey: key });
    expect(used.status).toBe(200);
    await own.press("Done");
    await own.closed();
    await own.expectForgotten(key);

    const row = own.row("Overlay");
    await row.getByText(`${key.slice(0, "act_live_".length + 8)}…`).waitFor();
    const before = await row.locator("time").nth(1).getAttribute("datetime");
    await own.button("Renew: Overlay").click();
    await own.dialog().getByLabel("365 days").check();
    await own.press("Renew");
    await own.closed();
    await expect.poll(() => row.locator("time").nth(1).getAttribute("datetime")).not.toBe(before);

    await own.button("Revoke: Overlay").click();
    await own.press("Cancel");
    await own.closed();
    await own.button("Revoke: Overlay").click();
    await own.press("Revoke");
    await own.closed();
    await own.see("No active key");
    // The button that had the focus is gone.
    const focused = () => own.page.evaluate("document.activeElement.textContent");
    await expect.poll(focused).toBe("API keys");
    await own.page.getByText("1 expired or revoked key").click();
    await own.page.getByText("Revoked", { exact: true }).waitFor();
    expect((await own.stack.http("/api/v1/me", { apiKey: key })).status).toBe(401);
  });

  it("are waited for while they are created, whatever is pressed: none is shown again. §2.7", async () => {
    const created = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    await own.page.route("**/*.ApiKeyService/CreateApiKey", async (route) => {
      const response = await route.fetch();
      created.resolve();
      await answered.promise;
      await route.fulfill({ response });
    });
    await own.button("Create key").click();
    await own.dialog().getByLabel("Name").fill("Overlay");
    await own.press("Create key");
    await created.promise;
    await own.page.keyboard.press("Escape");
    await own.page.keyboard.press("Escape");
    await own.dialog().getByRole("button", { name: "Cancel" }).dispatchEvent("click");
    answered.resolve();
    await own.told("You won't see it again");
    expect(await own.code("API key")).toMatch(KEY);
  });

  it("explain the limit of one a minute, and of ten, when it is met. §8", async () => {
    await createApiKey(own.stack, own.accountId);
    await own.button("Create key").click();
    await own.dialog().getByLabel("Name").fill("Second");
    await own.press("Create key");
    await own.told("You can create 1 key per minute");
    for (let made = 1; made < 10; made += 1) await createApiKey(own.stack, own.accountId);
    await own.page.reload();
    await own.see("You've reached the limit of 10 active keys.");
    expect(await own.button("Create key").isDisabled()).toBe(true);
  });

  it("get the longest validity when renewed, and a warning before an earlier end. §2.7", async () => {
    const keys = own.stack.client(ApiKeyService);
    const key = { accountId: own.accountId, name: "Overlay", validityDays: 365 };
    const { apiKey } = await keys.createApiKey(key);
    await own.page.reload();
    await own.button("Renew: Overlay").click();
    expect(await own.dialog().getByLabel("365 days").isChecked()).toBe(true);
    const warning = own.dialog().getByText("this makes its life shorter");
    expect(await warning.count()).toBe(0);
    await own.dialog().getByLabel("90 days").check();
    await warning.waitFor();
    await own.press("Cancel");
    await own.closed();
    await own.button("Renew: Overlay").click();
    await own.press("Renew");
    await own.closed();
    const renewed = (await keys.listApiKeys({ accountId: own.accountId })).apiKeys[0];
    const endOf = (key: ApiKey | undefined) => key?.expiresAt && timestampDate(key.expiresAt);
    expect(endOf(renewed)?.getTime()).toBeGreaterThan(endOf(apiKey)?.getTime() ?? 0);
  });

  it("show when they were last used, or that they never were", async () => {
    const { stack } = own.browsers;
    const { id } = await createApiKey(stack, own.accountId);
    await own.page.reload();
    await own.see("Never");
    // As a core notes it half a minute after a request: test/core/noted-later.test.ts.
    await stack.database.query("UPDATE api_key SET last_used_at = ? WHERE id = ?", [USED_AT, id]);
    await own.page.reload();
    const row = own.page.getByRole("row").nth(1);
    await row.locator("time[datetime^='2026-05-04T03:02:01']").waitFor();
    expect(await own.page.getByText("Never").count()).toBe(0);
  });
});
