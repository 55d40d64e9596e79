import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { certify } from "../../test/harness/certify.ts";
import { useFolder } from "../../test/harness/use-started.ts";
import { readConfig } from "./config.ts";

const GOOD = { CORE_URL: "http://127.0.0.1:50051", GATEWAY_CREDENTIAL: "act_svc_x" };

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

  it("refuse a core in plain text, unless ALLOW_PLAINTEXT names a trusted network", () => {
    const env = { ...GOOD, CORE_URL: "http://core.example:50051" };
    expect(() => readConfig(env)).toThrow(/^CORE_URL must begin with https:/);
    const { coreUrl } = readConfig({ ...env, ALLOW_PLAINTEXT: "trusted-network" });
    expect(coreUrl).toBe(env.CORE_URL);
  });

  describe("for TLS", () => {
    const folder = useFolder("gateway-tls");
    const file = (name: string) => join(folder, name);
    const read = (ca: string, cert: string, key: string) =>
      readConfig({
        ...{ ...GOOD, CORE_URL: "https://core.example", CORE_TLS_CA: file(ca) },
        ...{ CORE_TLS_CLIENT_CERT: file(cert), CORE_TLS_CLIENT_KEY: file(key) },
      }).coreTls;

    it("refuse an empty file, and what is no CA's certificate or no certificate with its key", () => {
      for (const name of ["a", "b"]) certify(folder, name, "IP:127.0.0.1");
      writeFileSync(file("empty"), "");
      writeFileSync(file("garbage"), "geheim");
      expect(read("a.pem", "a.pem", "a.key")).toMatchObject({ ca: expect.any(String) });
      expect(() => read("empty", "a.pem", "a.key")).toThrow(/^CORE_TLS_CA must be .*$/);
      expect(() => read("garbage", "a.pem", "a.key")).toThrow(/^CORE_TLS_CA must be .*$/);
      for (const [cert, key] of [
        ["a.pem", "b.key"],
        ["garbage", "a.key"],
      ] as const) {
        expect(() => read("a.pem", cert, key)).toThrow(
          /^CORE_TLS_CLIENT_CERT and CORE_TLS_CLIENT_KEY must be (?!.*geheim).*$/,
        );
      }
    });
  });
});
