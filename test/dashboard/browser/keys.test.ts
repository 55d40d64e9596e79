import { ApiKeyService } from "@activity/proto";
import { describe, expect, it } from "vitest";
import { runCommand } from "../../../dev-stack/src/run-command.ts";
import { createApiKey } from "../../harness/builders.ts";
import { useOwnPage } from "./harness-page.ts";

const KEY = /^act_live_[0-9a-f]{64}$/;
/** The time of a key's last use: 2026-05-04T03:02:01Z, in microseconds since 1970. */
const USED_AT = 1_777_863_721_000_000;
const own = useOwnPage("/keys");

describe("keys", () => {
  it("stay in their dialog until their owner saved them, even if keys are pressed or the session ends. §2.7, ADR 0040", async () => {
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
    await own.page.keyboard.press("Escape");
    await own.page.keyboard.press("Escape");
    // Closes the dialog, as the second Escape does in Chrome before 134.
    await own.page.evaluate("document.querySelector('dialog').close()");
    expect(await own.code("API key")).toMatch(KEY);
    const other = await own.page.context().newPage();
    await other.goto(own.browsers.origin);
    await other.getByRole("button", { name: /^Account/ }).click();
    await other.getByRole("dialog").getByRole("button", { name: "Sign out", exact: true }).click();
    await other.getByRole("heading", { name: "You are signed out" }).waitFor();
    const refused = own.page.waitForResponse("**/*.SessionService/GetSession");
    await own.page.evaluate("window.dispatchEvent(new Event('visibilitychange'))");
    expect((await refused).status()).toBe(401);
    expect(await own.code("API key")).toMatch(KEY);
    await own.press("I saved it");
    await own.page.getByRole("heading", { name: "Your session has ended" }).waitFor();
  });

  it("are tried by a command that asks for them, and are forgotten once they are saved. §2.7", async () => {
    await own.button("Create key").click();
    await own.press("Create key");
    await own.told("Give the key a name");
    await own.dialog().getByLabel("Name").fill("Overlay");
    await own.press("Create key");
    await own.told("You won't see it again");
    const key = await own.code("API key");
    await own.dialog().getByRole("button", { name: "Copy: API key" }).click();
    await own.dialog().getByRole("status").filter({ hasText: "Copied" }).waitFor();
    expect(await own.page.evaluate("navigator.clipboard.readText()")).toBe(key);
    const command = await own.code("Try it");
    expect(command).not.toContain(key);
    const gateway = `http://127.0.0.1:${own.stack.gatewayPort}`;
    const pasted = command.replace("https://api.example.com", gateway);
    const { lines } = await runCommand("bash", [], {
      input: `${pasted}\n${key}\n`,
      variables: { no_proxy: "127.0.0.1" },
    });
    expect(lines.join("\n")).toContain('"data":[]');
    await own.press("I saved it");
    await own.closed();
    await own.expectForgotten(key);
    const prefix = `${key.slice(0, "act_live_".length + 8)}…`;
    await own.row("Overlay").getByText(prefix).waitFor();
  });

  it("explain the limits of one a minute and of ten active keys. §8", async () => {
    await createApiKey(own.stack, own.accountId);
    await own.button("Create key").click();
    await own.dialog().getByLabel("Name").fill("Second");
    await own.press("Create key");
    await own.told("You can create 1 key per minute");
    for (let made = 1; made < 9; made += 1) await createApiKey(own.stack, own.accountId);
    await own.stack.database.query("UPDATE account SET api_key_created_at = NULL");
    await own.press("Create key");
    await own.told("You won't see it again");
    await own.see("You've reached the limit of 10 active keys.");
    await own.press("I saved it");
    await own.closed();
    // The focus returns to the button that opened the dialog.
    expect(await own.page.evaluate("document.activeElement.textContent")).toBe("Create key");
    expect(await own.button("Create key").isDisabled()).toBe(true);
  });

  it("and signing secrets are not changed by Enter pressed twice", async () => {
    const { endpointId } = await own.createEndpoint();
    await createApiKey(own.stack, own.accountId);
    const changes: string[] = [];
    own.page.on("request", (request) => {
      if (/\/(RenewApiKey|RotateSecret)$/.test(request.url())) changes.push(request.url());
    });
    const pressTwice = async (name: RegExp, title: string) => {
      await own.page.getByRole("button", { name }).focus();
      await own.page.keyboard.press("Enter");
      await own.dialog().getByRole("heading", { name: title }).waitFor();
      await own.page.keyboard.press("Enter");
      // Sends another request: a second one of the dialog would have been sent before it.
      await own.page.evaluate("fetch('/icon.svg')");
      expect(changes).toEqual([]);
    };
    await own.page.reload();
    await pressTwice(/^Renew: /, "Renew key");
    await own.open(`/endpoints/${endpointId}`);
    await own.button("Rotate secret").click();
    await own.dialog().getByLabel("at once").check();
    await own.press("Rotate secret");
    await own.press("I saved it");
    await own.closed();
    expect(changes.splice(0)).toHaveLength(1);
    await pressTwice(/^Rotate secret$/, "Rotate the signing secret");
    // The dialog has forgotten the choice of the previous rotation.
    expect(await own.dialog().getByLabel("in 1 hour").isChecked()).toBe(true);
  });

  it("have one new end while their renewal is open, so a screen reader reads it once", async () => {
    await createApiKey(own.stack, own.accountId);
    await own.page.clock.install();
    await own.page.reload();
    await own.page.getByRole("button", { name: /^Renew: / }).click();
    const end = own.dialog().getByText("It will be valid until");
    const opened = await end.textContent();
    await createApiKey(own.stack, own.accountId);
    // The page reads again every minute of its own clock.
    await own.page.clock.fastForward(60_000);
    await own.page.locator("tbody tr").nth(1).waitFor();
    expect(await end.textContent()).toBe(opened);
  });

  it("revoked elsewhere close their dialog, and the focus moves to the title of the page", async () => {
    const { accountId } = own;
    const { id } = await createApiKey(own.stack, accountId);
    await own.page.clock.install();
    await own.page.reload();
    await own.page.getByRole("button", { name: /^Renew: / }).click();
    await own.dialog().waitFor();
    await own.stack.client(ApiKeyService).revokeApiKey({ accountId, apiKeyId: id });
    // The page reads again every minute of its own clock.
    await own.page.clock.fastForward(60_000);
    await own.closed();
    expect(await own.page.evaluate("document.activeElement.tagName")).toBe("H1");
  });

  it("show when they were last used, or that they never were", async () => {
    const { database } = own.stack;
    const { id } = await createApiKey(own.stack, own.accountId);
    await own.page.reload();
    await own.see("Never");
    // `test/core/noted-later.test.ts` tests that the core notes the last use.
    await database.query("UPDATE api_key SET last_used_at = ? WHERE id = ?", [USED_AT, id]);
    await own.page.reload();
    const row = own.page.getByRole("row").nth(1);
    await row.locator("time[datetime^='2026-05-04T03:02:01']").waitFor();
    expect(await own.page.getByText("Never").count()).toBe(0);
  });
});
