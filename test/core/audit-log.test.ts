import { randomUUID } from "node:crypto";
import * as proto from "@activity/proto";
import { createServiceCredential, Permission } from "@activity/server";
import { beforeAll, describe, expect, it } from "vitest";
import { accountNoOf } from "../../server/src/common/ids.ts";
import { createPool } from "../../server/src/database/pool.ts";
import { inTransaction } from "../../server/src/database/transaction.ts";
import { writeDeliveries } from "../harness/backlog.ts";
import { createAccount, createEndpoint, createPaidDonation } from "../harness/builders.ts";
import { failureOf, METHODS, nameOf } from "../harness/methods.ts";
import { EVER } from "../harness/services.ts";
import { useTestStack } from "../harness/stack.ts";
import { AUDITED } from "./harness-calls.ts";

const stack = useTestStack();
let accountId: string;
beforeAll(async () => {
  accountId = await createAccount(stack);
});

type Line = Record<string, unknown>;

/** Returns the lines that an action adds to the audit log and the request log, even if it fails. */
async function linesOf(act: () => Promise<unknown>): Promise<Line[]> {
  const before = stack.log.length;
  await act().catch(() => undefined);
  return linesSince(before);
}
function linesSince(before: number): Line[] {
  const lines: Line[] = stack.log.slice(before).map((line) => JSON.parse(line));
  return lines.filter(({ message }) => message === "audit" || message === "call");
}
const auditOf = async (act: () => Promise<unknown>) =>
  (await linesOf(act)).filter(({ message }) => message === "audit");

describe("the audit log", () => {
  /** `test/dashboard/session.test.ts` tests the lines of sessions. */
  it("has one line for each administrative call, and none for other calls", async () => {
    for (const method of METHODS) {
      const name = `${method.parent.typeName}/${method.name}`;
      // Most methods refuse an empty request, but the log must have its line.
      const lines = await auditOf(() => failureOf(stack.client, method, []));
      const expected = AUDITED.includes(nameOf(method)) ? [name] : [];
      expect([name, lines.map((line) => line.method)]).toEqual([name, expected]);
    }
  });

  it("names the caller, the call, its account, time, request id and result", async () => {
    const endpoints = stack.client(proto.EndpointService);
    const kinds = { kinds: [proto.WebhookEventKind.DONATION_CREATED] };
    const request = { accountId, url: "https://example.com/hidden-path", kinds };
    const began = Date.now();
    const lines = await auditOf(() =>
      endpoints.createEndpoint(request, { headers: { "x-request-id": "dashboard-7" } }),
    );
    expect(lines).toEqual([
      {
        ...{ level: "info", message: "audit", account: accountId, code: "ok" },
        caller: expect.stringMatching(/^test-[0-9a-f]{12}$/),
        method: "activity.dashboard.v1.EndpointService/CreateEndpoint",
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        requestId: "dashboard-7",
      },
    ]);
    const at = Date.parse(String(lines[0]?.time));
    expect(at).toBeGreaterThanOrEqual(began);
    expect(at).toBeLessThanOrEqual(Date.now());
  });

  it("names the endpoint or API key that a call changes, so that a removal can be repeated, and a new account", async () => {
    const { endpointId } = await createEndpoint(stack, accountId);
    const endpoints = stack.client(proto.EndpointService);
    const [deleted] = await auditOf(() => endpoints.deleteEndpoint({ accountId, endpointId }));
    expect(deleted).toMatchObject({ account: accountId, subject: endpointId });
    const apiKeys = stack.client(proto.ApiKeyService);
    const apiKeyId = "0".repeat(15);
    const [revoked] = await auditOf(() => apiKeys.revokeApiKey({ accountId, apiKeyId }));
    expect(revoked).toMatchObject({ subject: apiKeyId });
    const hidden = { accountId: "hidden", apiKeyId: "hidden" };
    const [refused] = await auditOf(() => apiKeys.revokeApiKey(hidden));
    expect(refused).toMatchObject({ code: "InvalidArgument" });
    expect(JSON.stringify(refused)).not.toContain("hidden");
    let created = "";
    const [put] = await auditOf(async () => {
      created = await createAccount(stack);
    });
    expect(put).toMatchObject({ account: created, code: "ok" });
  });

  it("has one line for a deletion, as soon as access has ended, however long the purge takes", async () => {
    const deleted = await createAccount(stack);
    await createPaidDonation(stack, deleted);
    const pool = createPool(stack.database.url, 1);
    const before = stack.log.length;
    const line = { message: "audit", account: deleted, code: "ok" };
    const { deletion } = await inTransaction(pool, async (tx) => {
      const lock = "SELECT 1 FROM activity WHERE account_no = ? FOR UPDATE";
      await tx.query(lock, [accountNoOf(deleted)]);
      const begun = stack.client(proto.AccountService).deleteAccount({ accountId: deleted });
      begun.catch(() => undefined);
      await expect.poll(() => linesSince(before)).toMatchObject([line]);
      return { deletion: begun };
    });
    await deletion;
    expect(linesSince(before)).toMatchObject([line, { message: "call", code: "ok" }]);
    await pool.end();
  });

  it("has one line for a bulk retry, as soon as runs have begun, however long the others take", async () => {
    const { endpointId } = await createEndpoint(stack, accountId);
    const backlog = { accountId, endpointIds: [endpointId], count: 501 };
    const failed = { state: proto.DeliveryState.FAILED, attempts: 8 };
    const ids = await writeDeliveries(stack.database, backlog, failed);
    const pool = createPool(stack.database.url, 1);
    const before = stack.log.length;
    const line = { message: "audit", account: accountId, subject: endpointId, code: "ok" };
    const { retry } = await inTransaction(pool, async (tx) => {
      const lock = "SELECT 1 FROM delivery WHERE account_no = ? AND id = ? FOR UPDATE";
      // A bulk retry begins 500 runs at once, so the last delivery is its second part. Locks that delivery.
      await tx.query(lock, [accountNoOf(accountId), ids.at(-1)]);
      const all = { accountId, endpointId, ...EVER };
      const begun = stack.client(proto.DeliveryService).retryFailedDeliveries(all);
      begun.catch(() => undefined);
      await expect.poll(() => linesSince(before)).toMatchObject([line]);
      return { retry: begun };
    });
    expect((await retry).retried).toBe(501n);
    expect(linesSince(before)).toMatchObject([line, { message: "call", code: "ok" }]);
    await pool.end();
  });

  it("has a line for a credential that lacks the permission, and for one of another account", async () => {
    const other = await createAccount(stack);
    for (const [credential, account] of [
      // Without the permission, the core refuses the call before it reads the account, so the line names none.
      [await stack.credential(Permission.EndpointManage), {}],
      [await stack.credentialOf(other, Permission.AccountManage), { account: accountId }],
    ] as const) {
      const authorization = `Bearer ${credential}`;
      const accounts = stack.client(proto.AccountService, { authorization });
      const lines = await auditOf(() => accounts.blockAccount({ accountId }));
      expect(lines).toEqual([expect.objectContaining({ ...account, code: "PermissionDenied" })]);
    }
  });

  it("has no line for an unknown caller. The request log has one", async () => {
    const accounts = stack.client(proto.AccountService, {});
    const call = "activity.account.v1.AccountService/BlockAccount";
    expect(await linesOf(() => accounts.blockAccount({ accountId }))).toMatchObject([
      { message: "call", call, code: "Unauthenticated" },
    ]);
  });

  it.each(["donations_live_eu", "sync-of-donations-from-the-old-payment-host"])(
    "names the caller %s, although the name looks like a secret",
    async (name) => {
      const manage = [Permission.ApiKeyManage];
      const credential = await createServiceCredential(stack.database.url, name, manage);
      const apiKeys = stack.client(proto.ApiKeyService, { authorization: `Bearer ${credential}` });
      const request = { accountId, apiKeyId: "0".repeat(15) };
      const lines = await auditOf(() => apiKeys.revokeApiKey(request));
      expect(lines).toMatchObject([{ caller: name }]);
    },
  );

  it("has the request id of the request log, which replaces ids of callers that are invalid or look like a secret", async () => {
    const apiKeys = stack.client(proto.ApiKeyService);
    const request = { accountId, apiKeyId: "0".repeat(15) };
    const replaced = ["an invalid id", `import-${randomUUID()}`, "donations_live_eu"];
    for (const id of [undefined, ...replaced]) {
      const headers = id === undefined ? id : { "x-request-id": id };
      const lines = await linesOf(() => apiKeys.revokeApiKey(request, headers && { headers }));
      const ids = lines.map((line) => line.requestId);
      expect(lines.map((line) => line.message)).toEqual(["audit", "call"]);
      expect(ids).toEqual([expect.stringMatching(/^req_[a-z0-9]{15}$/), ids[0]]);
    }
  });
});
