import { AccountService, ApiKeyService, FeedChangeService } from "@activity/proto";
import { Permission } from "@activity/server";
import { createClient } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { createPaidDonation, createReader } from "../harness/builders.ts";
import { transportTo } from "../harness/clients.ts";
import { expectError } from "../harness/expectations.ts";
import { type HttpAnswer, requestOf } from "../harness/http.ts";
import type { PageJson } from "../harness/json.ts";
import { useTestStack, withClientAddress } from "../harness/stack.ts";

const POLL = "/api/v1/activity?order=asc";
const WAIT = { prefer: "wait=10" };

const stack = useTestStack();

const reads = () => stack.log.filter((line) => line.includes("ListActivities")).length;
const idsOf = (answer: HttpAnswer) => answer.json<PageJson>().data.map(({ id }) => id);
const headerNamesOf = ({ rawHeaders }: HttpAnswer) =>
  rawHeaders.filter((_, index) => index % 2 === 0);

/** Starts a poll that waits. Resolves once the core holds it. */
async function hold(apiKey: string, path = POLL, port = stack.gatewayPort) {
  const before = reads();
  const answering = requestOf(port, path, withClientAddress({ apiKey, headers: WAIT }));
  await expect.poll(reads).toBeGreaterThan(before);
  return { answering };
}

describe("ADR 0052: a poll that prefers to wait", () => {
  it("is answered as a plain poll once its page holds a record, and counts once. §8", async () => {
    const { accountId, apiKey } = await createReader(stack);
    const { answering } = await hold(apiKey);
    await createPaidDonation(stack, accountId);
    const held = await answering;
    const plain = await stack.http(POLL, { apiKey });
    expect(held.text).toBe(plain.text);
    expect(idsOf(held)).toHaveLength(1);
    expect(held.headers.ratelimit).toMatch(/r=119;/);
    expect(plain.headers.ratelimit).toMatch(/r=118;/);
    expect(held.headers["preference-applied"]).toBe("wait");
    const names = [...headerNamesOf(plain), "Preference-Applied"];
    expect(headerNamesOf(held).toSorted()).toEqual(names.toSorted());
  });

  it("gets a record that its core did not store", async () => {
    const { accountId: from } = await createReader(stack);
    await createPaidDonation(stack, from);
    // The wait of this poll ends first. So its answer would come first if the other poll got its record only at the end
    // of the other wait.
    const { answering: ending } = await hold((await createReader(stack)).apiKey);
    const { accountId, apiKey } = await createReader(stack);
    const { answering } = await hold(apiKey);
    const columns = "type, platform, unit, value, currency, refunded_amount_cents";
    await stack.database.query(
      `INSERT INTO activity (account_no, recorded_at, record_key, ${columns})
       SELECT (SELECT account_no FROM account WHERE id = ?), recorded_at, record_key, ${columns}
       FROM activity WHERE account_no = (SELECT account_no FROM account WHERE id = ?)`,
      [accountId, from],
    );
    const clock =
      "UPDATE account SET feed_changed_at = UNIX_TIMESTAMP(NOW(6)) * 1000000 WHERE id = ?";
    await stack.database.query(clock, [accountId]);
    expect(idsOf(await Promise.race([answering, ending]))).toHaveLength(1);
  });

  type Ids = { readonly accountId: string; readonly apiKeyId: string };
  it.each([
    ["key is revoked", (of: Ids) => stack.client(ApiKeyService).revokeApiKey(of), 401],
    ["account is blocked", (of: Ids) => stack.client(AccountService).blockAccount(of), 403],
  ] as const)("gets no record if its %s meanwhile. §5.7", async (_, endAccess, status) => {
    const { accountId, apiKey, apiKeyId } = await createReader(stack);
    const { answering } = await hold(apiKey);
    await endAccess({ accountId, apiKeyId });
    await createPaidDonation(stack, accountId);
    const code = status === 401 ? "invalid_api_key" : "account_unavailable";
    expectError(await answering, status, code);
  });

  it("is answered at once while four polls of its account wait", async () => {
    const { accountId, apiKey } = await createReader(stack);
    const held = [];
    for (let count = 0; count < 4; count += 1) held.push((await hold(apiKey)).answering);
    const fifth = await stack.http(POLL, { apiKey, headers: WAIT });
    expect(fifth.headers["preference-applied"]).toBeUndefined();
    expect(idsOf(fifth)).toEqual([]);
    await createPaidDonation(stack, accountId);
    for (const answer of await Promise.all(held)) expect(idsOf(answer)).toHaveLength(1);
  });

  it.each([
    ["newest first", "/api/v1/activity", "GET"],
    ["until", `${POLL}&until=2030-01-01T00:00:00Z`, "GET"],
    ["HEAD", POLL, "HEAD"],
    ["another path", "/api/v1/me", "GET"],
  ])("is answered at once, as a plain request, with %s", async (_, path, method) => {
    const { apiKey } = await createReader(stack);
    const [plain, preferred] = [
      await stack.http(path, { apiKey, method }),
      await stack.http(path, { apiKey, method, headers: WAIT }),
    ];
    expect(preferred.text).toBe(plain.text);
    expect(headerNamesOf(preferred)).toEqual(headerNamesOf(plain));
  });

  it("is answered at once when the gateway drains", async () => {
    const other = await stack.startInstance();
    const { apiKey } = await createReader(stack);
    const { answering } = await hold(apiKey, POLL, other.gatewayPort);
    const drainedMs = performance.now();
    other.drain();
    const answer = await answering;
    // The answer comes long before the ten seconds of the wait are over.
    expect(performance.now() - drainedMs).toBeLessThan(5_000);
    expect(idsOf(answer)).toEqual([]);
    expect(answer.headers.connection).toBe("close");
    await other.stop();
  });
});

it("ADR 0043: a core that drains streams changes until it stops, and no stream delays its stop", async () => {
  const other = await stack.startInstance();
  other.drain();
  const credential = await stack.credential(Permission.ClientAddressForward);
  const headers = { "x-service-credential": credential };
  const transport = transportTo(`http://127.0.0.1:${other.corePort}`, headers);
  const changed = new Set<string>();
  const ended = (async () => {
    for await (const { feeds } of createClient(FeedChangeService, transport).watchFeeds({})) {
      for (const { accountId } of feeds) changed.add(accountId);
    }
  })();
  const { accountId } = await createReader(stack);
  await createPaidDonation(stack, accountId);
  await expect.poll(() => changed.has(accountId)).toBe(true);
  await other.stop();
  // If the stream delayed the stop, the core would cut it after twenty seconds, and `ended` would reject.
  await ended;
});
