import { WebhookEventKind } from "@activity/proto";
import { beforeEach, describe, expect, it } from "vitest";
import { useServices } from "../../../test/harness/services.ts";
import { ErrorCode } from "../common/errors.ts";

const services = useServices();
let accountId: string;
beforeEach(async () => {
  accountId = await services.createAccount();
});

describe("endpoints", () => {
  it("are at most ten for each account, even when calls race", async () => {
    const created = await Promise.allSettled(
      Array.from({ length: 15 }, () => services.createEndpoint(accountId)),
    );
    expect(created.filter(({ status }) => status === "fulfilled")).toHaveLength(10);
    const { endpoints } = await services.endpoints.listEndpoints({ accountId });
    expect(endpoints).toHaveLength(10);
  });

  it("get at most ten tests a minute for each account, even when calls race", async () => {
    const endpointIds = [
      await services.createEndpoint(accountId),
      await services.createEndpoint(accountId),
    ];
    const sent = await Promise.allSettled(
      Array.from({ length: 15 }, (_, at) =>
        services.endpoints.sendTest({ accountId, endpointId: endpointIds[at % 2] ?? "" }),
      ),
    );
    const refused = sent.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
    expect(refused).toHaveLength(5);
    for (const reason of refused)
      expect(reason).toMatchObject({ code: ErrorCode.TestLimitReached });
    await services.forgetSending(accountId);
    await services.endpoints.sendTest({ accountId, endpointId: endpointIds[0] ?? "" });
  });

  it("have a name of up to 64 characters, or none", async () => {
    const name = "🎁".repeat(64);
    const endpointId = await services.createEndpoint(accountId);
    const nameNow = async () =>
      (await services.endpoints.getEndpoint({ accountId, endpointId })).endpoint?.name;
    expect(await nameNow()).toBe("");
    await services.endpoints.updateEndpoint({ accountId, endpointId, name });
    await services.endpoints.updateEndpoint({ accountId, endpointId, minAmountCents: 1n });
    expect(await nameNow()).toBe(name);
    for (const wrong of [`${name}!`, "\ud800"]) {
      const change = { accountId, endpointId, name: wrong };
      await expect(services.endpoints.updateEndpoint(change)).rejects.toThrow(/name/);
    }
  });

  it("keep their secret encrypted, and lose it and all their texts when they are deleted", async () => {
    const kinds = { kinds: [WebhookEventKind.DONATION_CREATED] };
    const call = { accountId, url: "https://example.com/hook", name: "shop", kinds };
    const { endpoint, secret } = await services.endpoints.createEndpoint(call);
    const endpointId = endpoint?.id ?? "";
    const stored = () =>
      services.database.query<{ id: string; secret: Buffer }>(
        "SELECT * FROM endpoint WHERE id = ?",
        [endpointId],
      );
    const [before = expect.unreachable("it has no row")] = await stored();
    expect(before.secret.includes(secret.slice(6))).toBe(false);
    // Every text must have a value, because the check below could not fail for an empty text.
    const empty = Object.entries(before).flatMap(([name, value]) =>
      String(value ?? "") === "" ? [name] : [],
    );
    expect(empty.sort()).toEqual(["deleted_at", "next_secret", "next_secret_from"]);
    await services.endpoints.deleteEndpoint({ accountId, endpointId });
    const [{ id, ...erased } = expect.unreachable("its row is gone")] = await stored();
    expect(id).toBe(endpointId);
    for (const value of Object.values(erased)) {
      // Only texts and secrets have a length.
      if (typeof value !== "number" && value !== null) expect(value).toHaveLength(0);
    }
    await expect(services.endpoints.getEndpoint({ accountId, endpointId })).rejects.toThrow();
  });
});
