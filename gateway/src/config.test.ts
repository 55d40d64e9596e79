import { describe, expect, it } from "vitest";
import { readConfig } from "./config.ts";

const GOOD = { CORE_URL: "http://127.0.0.1:50051", GATEWAY_CREDENTIAL: "act_svc_x" };

/** `runtime/src/core-address.test.ts` tests CORE_URL. `server/src/config.test.ts` tests certificate files. */
describe("the gateway's settings", () => {
  it("need the core's address and a credential; the rest has defaults", () => {
    const config = readConfig({ ...GOOD, TRUSTED_PROXIES: "10.0.0.0/8, ::1" });
    expect(config).toMatchObject({ host: "127.0.0.1", port: 8080, coreTls: {} });
    expect(config.trustedProxies).toEqual(["10.0.0.0/8", "::1"]);
    expect(config.revealCredential()).toBe("act_svc_x");
  });

  it("print without the credential", () => {
    expect(JSON.stringify(readConfig(GOOD))).not.toContain("act_svc_x");
  });

  it("refuse a core in plain text on another machine", () => {
    const env = { ...GOOD, CORE_URL: "http://core.example:50051" };
    expect(() => readConfig(env)).toThrow(/^CORE_URL must begin with https:/);
  });

  it("name every bad variable in one error", () => {
    const bad = {
      GATEWAY_PORT: "80a",
      CORE_URL: "mysql://x",
      TRUSTED_PROXIES: "10.0.0.0/99",
      CORE_TLS_CA: "/no/such/file",
      CORE_TLS_CLIENT_KEY: "-----BEGIN PRIVATE KEY----- geheim",
    };
    for (const name of [...Object.keys(bad), "GATEWAY_CREDENTIAL", "CORE_TLS_CLIENT_CERT"]) {
      expect(() => readConfig(bad)).toThrow(name);
    }
    expect(() => readConfig(bad)).not.toThrow(/geheim/);
  });
});
