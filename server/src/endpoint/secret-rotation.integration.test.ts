import { WebhookEventKind } from "@activity/proto";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import { beforeEach, describe, expect, it } from "vitest";
import { useServices } from "../../../test/harness/services.ts";
import { accountNoOf } from "../common/ids.ts";
import { inTransaction } from "../database/transaction.ts";

const services = useServices();
let accountId: string;
let endpointId: string;
let key: { accountId: string; endpointId: string };
let first: string;
beforeEach(async () => {
  accountId = await services.createAccount();
  endpointId = await services.createEndpoint(accountId);
  key = { accountId, endpointId };
  first = (await services.endpoints.rotateSecret(key)).secret;
});

const inHours = (hours: number) => timestampFromMs(Date.now() + hours * 3_600_000);
const rotateAhead = (hours = 12) =>
  services.endpoints.rotateSecret({ ...key, signsFrom: inHours(hours) });
/** Moves the start of a pending rotation into the past. */
const passStart = () =>
  services.database.query(
    "UPDATE endpoint SET next_secret_from = next_secret_from - 86400e6 WHERE id = ?",
    [endpointId],
  );

/** Returns the secrets that sign now: of a claimed first attempt, and of a workflow's attempt. */
async function signing(): Promise<string[]> {
  await services.database.query("DELETE FROM outbox_entry");
  const run = await services.sendTest(accountId, endpointId);
  const { attempts } = await services.dispatch.claimAttempts({ limit: 1, endpointLimit: 1 });
  const { step } = await services.dispatch.loadAttempt({ run, attempt: 1 });
  return [attempts[0]?.ready?.secret ?? "", step.case === "ready" ? step.value.secret : ""];
}
const pendingFrom = async () =>
  (await services.endpoints.getEndpoint(key)).endpoint?.nextSecretSignsFrom;
const stored = () =>
  services.database.query<{ secret: Buffer; next_secret: Buffer | null }>(
    "SELECT secret, next_secret FROM endpoint WHERE id = ?",
    [endpointId],
  );

describe("a rotation ahead", () => {
  it("returns the new secret at once, which signs every attempt that is loaded after its start", async () => {
    const signsFrom = inHours(12);
    const { secret, endpoint } = await services.endpoints.rotateSecret({ ...key, signsFrom });
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(endpoint).toMatchObject({ id: endpointId, nextSecretSignsFrom: signsFrom });
    expect(await signing()).toEqual([first, first]);
    await passStart();
    expect(await signing()).toEqual([secret, secret]);
  });

  it("is shown while it is pending, when the endpoint is read or listed, without its secret", async () => {
    await rotateAhead();
    const { endpoints } = await services.endpoints.listEndpoints({ accountId });
    expect(endpoints.map(({ nextSecretSignsFrom }) => nextSecretSignsFrom)).toEqual([
      await pendingFrom(),
    ]);
    expect(await pendingFrom()).toBeDefined();
    expect(JSON.stringify(endpoints, (_, value) => `${value}`)).not.toContain("whsec_");
    await passStart();
    expect(await pendingFrom()).toBeUndefined();
  });

  it("stays pending when the endpoint is changed", async () => {
    const { secret } = await rotateAhead();
    const { endpoint } = await services.endpoints.updateEndpoint({
      ...key,
      standardWebhooks: true,
    });
    expect(endpoint?.nextSecretSignsFrom).toEqual(await pendingFrom());
    await passStart();
    expect(await signing()).toEqual([secret, secret]);
  });

  it("is stored encrypted, and is deleted with its endpoint", async () => {
    const { secret } = await rotateAhead();
    const [row] = await stored();
    expect(row?.next_secret?.includes(secret.slice(6))).toBe(false);
    await services.endpoints.deleteEndpoint(key);
    expect(await stored()).toEqual([{ secret: Buffer.alloc(0), next_secret: null }]);
  });

  it.each([0, -1, 24.1])("of %d hours is refused, and changes nothing", async (hours) => {
    await expect(rotateAhead(hours)).rejects.toMatchObject({ code: "invalid_parameter" });
    expect(await signing()).toEqual([first, first]);
    expect(await pendingFrom()).toBeUndefined();
  });
});

describe("after a rotation", () => {
  it("the first one's secret signs until the second one starts", async () => {
    const second = (await rotateAhead()).secret;
    await passStart();
    const third = (await rotateAhead()).secret;
    expect(await signing()).toEqual([second, second]);
    await passStart();
    expect(await signing()).toEqual([third, third]);
  });

  it("a rotation at once replaces every secret", async () => {
    await rotateAhead();
    await passStart();
    const { secret, endpoint } = await services.endpoints.rotateSecret(key);
    expect(endpoint?.nextSecretSignsFrom).toBeUndefined();
    expect(await signing()).toEqual([secret, secret]);
    expect(await stored()).toMatchObject([{ next_secret: null }]);
  });
});

describe("while a rotation is pending", () => {
  it("another one is refused, ahead or at once, even when calls race", async () => {
    const pending = inHours(12);
    const calls = Array.from({ length: 8 }, () =>
      services.endpoints.rotateSecret({ ...key, signsFrom: pending }),
    );
    const settled = await Promise.allSettled(calls);
    const shown = settled.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
    expect(shown).toHaveLength(1);
    for (const again of [() => services.endpoints.rotateSecret(key), () => rotateAhead(1)]) {
      await expect(again()).rejects.toMatchObject({ code: "secret_rotation_pending" });
    }
    expect(await pendingFrom()).toEqual(pending);
    await passStart();
    expect(await signing()).toEqual([shown[0]?.secret, shown[0]?.secret]);
  });

  it("it can be canceled: the current secret stays, and the new one is deleted", async () => {
    await rotateAhead();
    const { endpoint } = await services.endpoints.cancelRotation(key);
    expect(endpoint).toMatchObject({ id: endpointId });
    expect(endpoint?.nextSecretSignsFrom).toBeUndefined();
    await passStart();
    expect(await signing()).toEqual([first, first]);
    expect(await stored()).toMatchObject([{ next_secret: null }]);
    await expect(rotateAhead()).resolves.toBeDefined();
  });
});

describe("a rotation that is not pending cannot be canceled", () => {
  const refused = { code: "secret_rotation_not_pending" };

  it("because there was none, it was canceled before, or it has started and the new secret signs", async () => {
    const expectRefused = () =>
      expect(services.endpoints.cancelRotation(key)).rejects.toMatchObject(refused);
    await expectRefused();
    await rotateAhead();
    await services.endpoints.cancelRotation(key);
    await expectRefused();
    const { secret } = await rotateAhead();
    await passStart();
    await expectRefused();
    expect(await signing()).toEqual([secret, secret]);
  });

  it("because the endpoint belongs to another account", async () => {
    await rotateAhead();
    const other = { accountId: await services.createAccount(), endpointId };
    await expect(services.endpoints.cancelRotation(other)).rejects.toMatchObject({
      code: "endpoint_not_found",
    });
    expect(await pendingFrom()).toBeDefined();
  });
});

describe("a caller that goes away while its call waits for the account", () => {
  it("leaves no secret that nobody learned, of an endpoint or an API key", async () => {
    const caller = new AbortController();
    const { signal } = caller;
    const kinds = { kinds: [WebhookEventKind.DONATION_CREATED] };
    const created = { accountId, url: "https://example.com/hook", kinds };
    const calls = await inTransaction(services.pool, async (tx) => {
      const lock = "SELECT 1 FROM account WHERE account_no = ? FOR UPDATE";
      await tx.query(lock, [accountNoOf(accountId)]);
      const begun = [
        services.endpoints.rotateSecret(key, { signal }),
        services.endpoints.createEndpoint(created, { signal }),
        services.apiKeys.createApiKey({ accountId, name: "test", validityDays: 1 }, { signal }),
      ];
      const settled = Promise.allSettled(begun);
      const isWaiting = () => services.database.isRunning("SELECT account_no, id, blocked_at");
      await expect.poll(isWaiting).toBe(true);
      caller.abort();
      return settled;
    });
    const gone = { status: "rejected", reason: { code: Code.Canceled } };
    expect(calls).toMatchObject([gone, gone, gone]);
    // `signing` sends a test. That write follows the three calls, because it is of the same account.
    expect(await signing()).toEqual([first, first]);
    expect((await services.endpoints.listEndpoints({ accountId })).endpoints).toHaveLength(1);
    expect((await services.apiKeys.listApiKeys({ accountId })).apiKeys).toEqual([]);
  });
});
