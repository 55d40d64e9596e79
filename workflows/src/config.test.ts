import { describe, expect, it } from "vitest";
import { readDeliveryConfig, readProcessConfig } from "./config.ts";

const GOOD = { CORE_CREDENTIAL: "act_svc_x" };

describe("the settings of relay and worker", () => {
  it("need a credential; the rest has defaults", () => {
    const config = readProcessConfig(GOOD).core;
    expect(config).toMatchObject({ coreUrl: "http://127.0.0.1:50051", coreTls: {} });
    expect(config.revealCredential()).toBe("act_svc_x");
    expect(readDeliveryConfig({})).toMatchObject({ namespace: "default", extraCa: undefined });
  });

  it("print without the credential", () => {
    expect(JSON.stringify(readProcessConfig(GOOD))).not.toContain("act_svc_x");
  });

  it("name every bad variable in one error", () => {
    const bad = {
      CORE_URL: "mysql://x",
      CORE_TLS_CA: "/no/such/file",
      CORE_TLS_CLIENT_CERT: "x",
      WEBHOOK_ALLOWED_TARGETS: "127.0.0.1:8443,foo",
      WEBHOOK_EXTRA_CA: "/no/such/file",
    };
    for (const name of [...Object.keys(bad), "CORE_CREDENTIAL", "CORE_TLS_CLIENT_KEY"]) {
      expect(() => readProcessConfig(bad)).toThrow(name);
    }
    expect(() => readDeliveryConfig(bad)).toThrow(
      /^WEBHOOK_ALLOWED_TARGETS must be host:port pairs separated by commas\.\nWEBHOOK_EXTRA_CA must be the path of a PEM file that this process can read\.$/,
    );
  });

  it("take Temporal's own variables, for a cluster or its cloud", () => {
    const config = readDeliveryConfig({
      TEMPORAL_ADDRESS: "cluster.example:7233",
      TEMPORAL_NAMESPACE: "webhooks",
      TEMPORAL_API_KEY: "key",
    });
    expect(config).toMatchObject({
      namespace: "webhooks",
      connection: { address: "cluster.example:7233", apiKey: "key" },
    });
    expect(config.connection?.tls).toBeTruthy();
  });
});
