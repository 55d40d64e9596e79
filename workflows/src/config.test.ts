import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { certify } from "../../test/harness/certify.ts";
import { useFolder } from "../../test/harness/use-started.ts";
import { readDeliveryConfig, readProcessConfig } from "./config.ts";

const GOOD = { CORE_CREDENTIAL: "act_svc_x" };
const folder = useFolder("deliveries-config");

describe("the settings of dispatcher and worker", () => {
  it("need a credential; the rest has defaults", () => {
    const config = readProcessConfig(GOOD).core;
    expect(config).toMatchObject({ coreUrl: "http://127.0.0.1:50051", coreTls: {} });
    expect(config.revealCredential()).toBe("act_svc_x");
    expect(readDeliveryConfig({})).toMatchObject({ namespace: "default", extraCa: undefined });
  });

  it("name every bad variable in one error", () => {
    const bad = {
      CORE_URL: "mysql://x",
      CORE_TLS_CA: "/no/such/file",
      CORE_TLS_CLIENT_CERT: "x",
      WEBHOOK_ALLOWED_TARGETS: "127.0.0.1:8443,foo",
      WEBHOOK_EXTRA_CA: "/no/such/file",
      TEMPORAL_TLS_CLIENT_KEY_PATH: "-----BEGIN PRIVATE KEY----- geheim",
      TEMPORAL_API_KEY_FILE: "/no/such/file",
      TEMPORAL_WORKER_BUILD_ID: "1.0.0 geheim",
      TEMPORAL_TASK_QUEUE: "geheim.prod",
      WEBHOOK_PROXY_URL: "http://owner:geheim@proxy.example:3128/path",
    };
    const pair = "CORE_TLS_CLIENT_CERT and CORE_TLS_CLIENT_KEY";
    for (const name of [...Object.keys(bad), "CORE_CREDENTIAL", pair]) {
      // Each variable must have its own line. Other lines may name it too.
      const line = new RegExp(`^(With \\w+, )?${name} (must|is) `, "m");
      expect(() => readProcessConfig(bad)).toThrow(line);
    }
    expect(() => readProcessConfig(bad)).not.toThrow(/geheim/);
    expect(() => readProcessConfig({ CORE_CREDENTIAL_FILE: "/no/such/file" })).toThrow(
      /^CORE_CREDENTIAL_FILE must be [^\n]*$/,
    );
    const { WEBHOOK_ALLOWED_TARGETS, WEBHOOK_EXTRA_CA } = bad;
    const targets = { WEBHOOK_ALLOWED_TARGETS, WEBHOOK_EXTRA_CA };
    expect(() => readDeliveryConfig({ ...targets, ALLOW_UNSAFE_TARGETS: "development" })).toThrow(
      /^WEBHOOK_ALLOWED_TARGETS must be host:port pairs separated by commas\.\nWEBHOOK_EXTRA_CA must be the path of a PEM file that this process can read\.$/,
    );
  });

  it("refuse targets that production forbids, and a core that is reached in plain text", () => {
    certify(folder, "extra", "IP:127.0.0.1");
    const bad = {
      ...GOOD,
      WEBHOOK_ALLOWED_TARGETS: "127.0.0.1:8443",
      WEBHOOK_EXTRA_CA: join(folder, "extra.pem"),
      CORE_URL: "http://core.example:50051",
    };
    expect(() => readProcessConfig(bad)).toThrow(
      /^WEBHOOK_ALLOWED_TARGETS is for .*\nWEBHOOK_EXTRA_CA is for .*\nCORE_URL must begin with https:.*$/,
    );
    const allowed = { ALLOW_UNSAFE_TARGETS: "development", ALLOW_PLAINTEXT: "trusted-network" };
    const { core, delivery } = readProcessConfig({ ...bad, ...allowed });
    expect(core.coreUrl).toBe(bad.CORE_URL);
    expect([...delivery.allowedTargets]).toEqual([bad.WEBHOOK_ALLOWED_TARGETS]);
    expect(delivery.extraCa).toMatch(/^-----BEGIN CERTIFICATE/);
    const noCa = { ...bad, ...allowed, WEBHOOK_EXTRA_CA: import.meta.filename };
    expect(() => readProcessConfig(noCa)).toThrow(/^WEBHOOK_EXTRA_CA must be .* certificate\.$/);
  });

  it.each(["proxy.example:3128", "socks5://proxy.example", "http://proxy.example/?a", "https://"])(
    "refuse %s for the egress proxy",
    (WEBHOOK_PROXY_URL) => {
      expect(() => readDeliveryConfig({ WEBHOOK_PROXY_URL })).toThrow("WEBHOOK_PROXY_URL must be");
    },
  );

  it("refuse a proxy's password in plain text, unless ALLOW_PLAINTEXT names a trusted network", () => {
    const read = (WEBHOOK_PROXY_URL: string, env = {}) =>
      readDeliveryConfig({ ...env, WEBHOOK_PROXY_URL }).proxyUrl?.href;
    for (const login of ["owner:geheim", "geheim"]) {
      const url = `http://${login}@proxy.example:3128`;
      expect(() => read(url)).toThrow(/^WEBHOOK_PROXY_URL has a user or password (?!.*geheim).*$/);
      expect(read(url, { ALLOW_PLAINTEXT: "trusted-network" })).toBe(`${url}/`);
    }
    for (const url of [
      "https://owner:geheim@proxy.example:3128/",
      "http://owner:geheim@127.0.0.1:3128/",
      "http://proxy.example:3128/",
    ]) {
      expect(read(url)).toBe(url);
    }
  });

  it.each([" geheim", "geheim\n", "ge heim", "gehéim", "ge\nheim"])(
    "refuse the API key %j, which the SDK would not send",
    (TEMPORAL_API_KEY) => {
      expect(() => readDeliveryConfig({ TEMPORAL_API_KEY })).toThrow(
        /^TEMPORAL_API_KEY must be (?!.*heim).*$/,
      );
    },
  );

  it("take Temporal's own variables, for a cluster or Temporal Cloud", () => {
    const keyFile = join(folder, "api-key");
    writeFileSync(keyFile, "geheim\n");
    const config = readDeliveryConfig({
      TEMPORAL_ADDRESS: "cluster.example:7233",
      TEMPORAL_NAMESPACE: "webhooks",
      TEMPORAL_API_KEY_FILE: keyFile,
    });
    expect(config).toMatchObject({
      namespace: "webhooks",
      connection: { address: "cluster.example:7233", apiKey: "geheim" },
    });
    expect(config.connection?.tls).toBeTruthy();
    const away = { TEMPORAL_ADDRESS: "cluster.example:7233", TEMPORAL_API_KEY: "geheim" };
    for (const TEMPORAL_TLS of ["false", "0"]) {
      expect(() => readDeliveryConfig({ ...away, TEMPORAL_TLS })).toThrow(
        /^TEMPORAL_TLS must be true or unset with TEMPORAL_API_KEY, which would .*$/,
      );
      expect(readDeliveryConfig({ TEMPORAL_TLS }).connection?.tls).toBeFalsy();
      const beside = { TEMPORAL_API_KEY: "geheim" };
      expect(readDeliveryConfig({ TEMPORAL_TLS, ...beside }).connection?.apiKey).toBe("geheim");
    }
  });

  it("take an empty variable of Temporal as unset", () => {
    const config = readDeliveryConfig({
      ...{ TEMPORAL_ADDRESS: "", TEMPORAL_NAMESPACE: "", TEMPORAL_API_KEY: "" },
      ...{ TEMPORAL_TLS: "", TEMPORAL_TLS_SERVER_NAME: "", TEMPORAL_TLS_CLIENT_CERT_PATH: "" },
    });
    expect(config.connection).toEqual({});
    expect(config.namespace).toBe("default");
    const away = { TEMPORAL_ADDRESS: "cluster.example:7233", TEMPORAL_API_KEY: "geheim" };
    expect(readDeliveryConfig({ ...away, TEMPORAL_TLS: "" }).connection?.tls).toBeTruthy();
  });

  it.each(["True", "yes", "on"])("refuse TEMPORAL_TLS=%s, which would turn TLS off", (word) => {
    expect(() => readDeliveryConfig({ TEMPORAL_TLS: word })).toThrow(/^TEMPORAL_TLS must be .*$/);
  });

  it.each(["https://c:7233", "dns:///c:7233", "c:7233/", "::1", "c:", "c 7233"])(
    "refuse the address %s of a Temporal, which the SDK refuses at each connect",
    (TEMPORAL_ADDRESS) => {
      expect(() => readDeliveryConfig({ TEMPORAL_ADDRESS })).toThrow(/^TEMPORAL_ADDRESS must be/);
    },
  );

  it.each(["c", "c.example:7233", "10.0.0.7:7233", "[::1]:7233"])(
    "take the address %s of a Temporal",
    (address) => {
      const { connection } = readDeliveryConfig({ TEMPORAL_ADDRESS: address });
      expect(connection).toEqual({ address });
    },
  );

  describe("with certificates for Temporal", () => {
    const file = (name: string) => join(folder, name);
    const NAMES = {
      ca: "TEMPORAL_TLS_SERVER_CA_CERT_PATH",
      cert: "TEMPORAL_TLS_CLIENT_CERT_PATH",
      key: "TEMPORAL_TLS_CLIENT_KEY_PATH",
    };

    it("connect with all of them, or refuse to start", () => {
      for (const name of ["a", "b"]) certify(folder, name, "IP:127.0.0.1");
      writeFileSync(file("empty"), "");
      const good = {
        ...{ [NAMES.ca]: file("a.pem"), [NAMES.cert]: file("a.pem"), [NAMES.key]: file("a.key") },
        TEMPORAL_ADDRESS: "cluster.example:7233",
      };
      const tls = { serverRootCACertificate: {}, clientCertPair: {} };
      expect(readDeliveryConfig(good).connection).toMatchObject({ tls });
      const read = (env: object) => () => readDeliveryConfig({ ...good, ...env });
      expect(read({ [NAMES.ca]: file("empty") })).toThrow(new RegExp(`^${NAMES.ca} must be .*$`));
      expect(read({ [NAMES.key]: file("b.key") })).toThrow(NAMES.key);
      expect(read({ [NAMES.key]: "" })).toThrow(
        `${NAMES.key}, or their _DATA forms, must be given together.`,
      );
      expect(read({ TEMPORAL_TLS: "false" })).toThrow(/^TEMPORAL_TLS must be true or unset .*$/);
    });
  });
});
