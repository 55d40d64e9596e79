import { clientBucket } from "@activity/runtime/client-bucket";
import { Permission } from "@activity/server";
import { describe, expect, it } from "vitest";
import { findFreePort } from "../../dev-stack/src/free-port.ts";
import { createReader } from "../harness/builders.ts";
import { expectError } from "../harness/expectations.ts";
import { requestOf } from "../harness/http.ts";
import { useTestStack } from "../harness/stack.ts";
import { useParts } from "../operating/harness-parts.ts";

const stack = useTestStack();
const startPart = useParts();

/** Starts a gateway with this credential. Returns its port, its health check and its log. */
async function startGateway(credential: string) {
  const healthPort = await findFreePort();
  const { port, output: log } = await startPart("gateway", {
    ...{ CORE_URL: `http://127.0.0.1:${stack.corePort}`, GATEWAY_CREDENTIAL: credential },
    ...{ GATEWAY_PORT: "0", HEALTH_PORT: `${healthPort}`, TRUSTED_PROXIES: "127.0.0.1/32" },
  });
  const health = async () => {
    const { status, text } = await requestOf(healthPort, "/ready", {});
    return [status, JSON.parse(text).status];
  };
  return { port, health, log };
}

describe("a gateway in a process of its own", () => {
  it.each([
    ["is refused", async () => `act_svc_${"0".repeat(64)}`, "invalid_service_credential"],
    ["lacks its permission", () => stack.credential(Permission.ActivityRead), "permission_denied"],
  ])("whose credential %s says why and answers 503", async (_name, createCredential, reason) => {
    const gateway = await startGateway(await createCredential());
    await expect.poll(gateway.health).toEqual([503, reason]);
    expect(gateway.log()).toContain(
      `refuses GATEWAY_CREDENTIAL; requests get 503","code":"${reason}"`,
    );
    const { apiKey } = await createReader(stack);
    for (const path of ["/api/v1/me", "/api/v1/activity?limit=0", "/nothing"]) {
      const headers = { "x-forwarded-for": "203.0.113.9" };
      const answer = await requestOf(gateway.port, path, { apiKey, headers });
      expectError(answer, 503, "temporarily_unavailable");
    }
    // No client was counted. The gateway's own requests count while its credential is unknown.
    const counted = "SELECT bucket FROM rate_window WHERE bucket <> ?";
    expect(await stack.database.query(counted, [clientBucket("127.0.0.1")])).toEqual([]);
  });

  it("with a valid credential serves and says so", async () => {
    const gateway = await startGateway(await stack.credential(Permission.ClientAddressForward));
    await expect.poll(gateway.health).toEqual([200, "serving"]);
    expect(gateway.log()).toContain("the core serves this gateway");
    const { apiKey } = await createReader(stack);
    expect((await requestOf(gateway.port, "/api/v1/me", { apiKey })).status).toBe(200);
  });
});
