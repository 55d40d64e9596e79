import * as proto from "@activity/proto";
import { Permission } from "@activity/server";
import { beforeAll, describe, expect, it } from "vitest";
import { createAccount, createEndpoint, unique } from "../harness/builders.ts";
import { failureOf, METHODS, nameOf } from "../harness/methods.ts";
import { useTestStack } from "../harness/stack.ts";
import { AUDITED } from "./harness-calls.ts";

const stack = useTestStack();
let accountId: string;
beforeAll(async () => {
  accountId = await createAccount(stack);
});

type Line = Record<string, unknown>;

/** Returns the log lines of one kind that an action caused. */
async function logged(message: "audit" | "call", act: () => Promise<unknown>): Promise<Line[]> {
  const before = stack.log.length;
  await act();
  const lines: Line[] = stack.log.slice(before).map((line) => JSON.parse(line));
  return lines.filter((line) => line.message === message);
}

describe("the audit log", () => {
  it("has one line for each administrative call, and for no other", async () => {
    // `test/dashboard/session.test.ts` holds the lines that sessions leave.
    for (const method of METHODS) {
      const name = `${method.parent.typeName}/${method.name}`;
      // Most methods refuse an empty request.
      const lines = await logged("audit", () => failureOf(stack.client, method, []));
      const expected = AUDITED.includes(nameOf(method)) ? [name] : [];
      expect([name, lines.map((line) => line.method)]).toEqual([name, expected]);
    }
  });

  it("says who called what about which account, when, under which request id and how it ended", async () => {
    const endpoints = stack.client(proto.EndpointService);
    const request = {
      accountId,
      url: "https://example.com/hidden-path",
      kinds: { kinds: [proto.WebhookEventKind.DONATION_CREATED] },
    };
    const began = Date.now();
    const [line, ...others] = await logged("audit", () =>
      endpoints.createEndpoint(request, { headers: { "x-request-id": "dashboard-7" } }),
    );
    expect(others).toEqual([]);
    expect(line).toEqual({
      level: "info",
      message: "audit",
      caller: expect.stringMatching(/^test-[0-9a-f]{12}$/),
      method: "activity.dashboard.v1.EndpointService/CreateEndpoint",
      account: accountId,
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      requestId: "dashboard-7",
      code: "ok",
    });
    const at = Date.parse(String(line?.time));
    expect(at).toBeGreaterThanOrEqual(began);
    expect(at).toBeLessThanOrEqual(Date.now());
  });

  it("names the account that a call has created", async () => {
    let created: string | undefined;
    const names = { username: unique("user"), displayName: unique("Display") };
    const [line] = await logged("audit", async () => {
      const accounts = stack.client(proto.AccountService);
      const answer = await accounts.putAccount({ externalId: unique("external"), ...names });
      created = answer.account?.id;
    });
    expect(line).toMatchObject({ account: created, code: "ok" });
  });

  it("has a line for a credential that lacks the permission, and for one of another account", async () => {
    const other = await createAccount(stack);
    for (const [credential, account] of [
      // The core does not read which account this call named.
      [await stack.credential(Permission.EndpointManage), undefined],
      [await stack.credentialOf(other, Permission.AccountManage), accountId],
    ] as const) {
      const authorization = `Bearer ${credential}`;
      const accounts = stack.client(proto.AccountService, { authorization });
      const lines = await logged("audit", () =>
        accounts.blockAccount({ accountId }).catch(() => undefined),
      );
      expect(lines).toEqual([
        expect.objectContaining({ ...(account && { account }), code: "PermissionDenied" }),
      ]);
    }
  });

  it("has none for who is not known, whom the request log has", async () => {
    const accounts = stack.client(proto.AccountService, {});
    const block = () => accounts.blockAccount({ accountId }).catch(() => undefined);
    expect(await logged("audit", block)).toEqual([]);
    expect(await logged("call", block)).toMatchObject([{ code: "Unauthenticated" }]);
  });

  it("shares its request id with the request log, and takes none that is not one", async () => {
    const apiKeys = stack.client(proto.ApiKeyService);
    for (const headers of [{}, { "x-request-id": "what somebody wrote" }] as Line[]) {
      const before = stack.log.length;
      await apiKeys
        .revokeApiKey({ accountId, apiKeyId: "0".repeat(15) }, { headers } as object)
        .catch(() => undefined);
      const lines: Line[] = stack.log.slice(before).map((line) => JSON.parse(line));
      const ids = lines.map((line) => line.requestId);
      expect(lines.map((line) => line.message)).toEqual(["audit", "call"]);
      expect(ids).toEqual([expect.stringMatching(/^req_[a-z0-9]{15}$/), ids[0]]);
    }
  });

  it("holds nothing of what was sent or answered", async () => {
    const url = "https://example.com/hidden-url";
    const [wrong, name, username] = ["hidden-account-id", "hidden name", "hidden-user"];
    const content = [wrong, url, name, username];
    const lines = await logged("audit", async () => {
      const accounts = stack.client(proto.AccountService);
      await accounts.blockAccount({ accountId: wrong }).catch(() => undefined);
      await accounts.putAccount({ externalId: unique("e"), username, displayName: name });
      await createEndpoint(stack, accountId, url);
      await stack.client(proto.ApiKeyService).createApiKey({ accountId, name, validityDays: 30 });
    });
    expect(lines.map((line) => line.code)).toEqual(["InvalidArgument", "ok", "ok", "ok"]);
    const text = JSON.stringify(lines);
    for (const hidden of [...content, "whsec_", "act_live_", "[secret]"]) {
      expect(text).not.toContain(hidden);
    }
    const known = ["level", "message", "caller", "method", "account", "time", "requestId", "code"];
    for (const line of lines) expect(known).toEqual(expect.arrayContaining(Object.keys(line)));
  });
});
