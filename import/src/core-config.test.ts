import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { useFolder } from "../../test/harness/use-started.ts";
import { readCoreConfig } from "./core-config.ts";
import { readLocalCore } from "./local-core.ts";

const LOCAL = { coreUrl: "http://127.0.0.1:4000", serviceCredential: "local" };

const folder = useFolder("core-config");

describe("where the core is", () => {
  it("comes from the environment, else from the last npm start", () => {
    expect(readCoreConfig({}, LOCAL)).toMatchObject(LOCAL);
    const env = { CORE_URL: "https://core.example", SERVICE_CREDENTIAL: "given" };
    expect(readCoreConfig(env, LOCAL)).toMatchObject({
      coreUrl: "https://core.example",
      serviceCredential: "given",
    });
    expect(readCoreConfig({ SERVICE_CREDENTIAL: "given" }, {})).toMatchObject({
      coreUrl: "http://127.0.0.1:50051",
    });
  });

  it("needs no file of npm start if the environment has the address and a credential", async () => {
    // `/dev/null` is no folder, so no file in it can be read.
    const unreadable = { DATA_DIR: "/dev/null", CORE_URL: "https://core.example" };
    for (const name of ["SERVICE_CREDENTIAL", "SERVICE_CREDENTIAL_FILE"]) {
      expect(await readLocalCore({ ...unreadable, [name]: "given" })).toEqual({});
    }
    await expect(readLocalCore(unreadable)).rejects.toThrow(/cannot be read/);
  });

  it("shows nothing of the credential in a file of npm start that is not JSON", async () => {
    writeFileSync(join(folder, "local.json"), "geheim");
    const read = readLocalCore({ DATA_DIR: folder });
    await expect(read).rejects.toThrow(/cannot be read: it is not JSON\.$/);
  });

  it("tells of a credential's file that cannot be read", () => {
    expect(() => readCoreConfig({ SERVICE_CREDENTIAL_FILE: "/no/such/file" }, LOCAL)).toThrow(
      /^SERVICE_CREDENTIAL_FILE must be/,
    );
  });

  it("shows nothing of a credential that no header can hold", () => {
    const read = () => readCoreConfig({ SERVICE_CREDENTIAL: "a\ngeheim" }, LOCAL);
    expect(read).toThrow(/^SERVICE_CREDENTIAL must be/);
    expect(read).not.toThrow(/geheim/);
  });

  it("never sends this machine's credential elsewhere", () => {
    expect(() => readCoreConfig({ CORE_URL: "https://core.example" }, LOCAL)).toThrow(
      /SERVICE_CREDENTIAL/,
    );
  });

  it("is reached by TLS off this machine, unless its network is called trusted", () => {
    const env = { CORE_URL: "http://core.example:50051", SERVICE_CREDENTIAL: "given" };
    expect(() => readCoreConfig(env, {})).toThrow(/^CORE_URL must begin with https:/);
    const trusted = { ...env, ALLOW_PLAINTEXT: "trusted-network" };
    expect(readCoreConfig(trusted, {}).coreUrl).toBe(env.CORE_URL);
  });

  it("names a wrong file of TLS, and shows nothing of a key that was given instead of a path", () => {
    const env = { CORE_URL: "https://core.example", SERVICE_CREDENTIAL: "given" };
    const CORE_TLS_CLIENT_KEY = "-----BEGIN PRIVATE KEY----- geheim";
    const read = () => readCoreConfig({ ...env, CORE_TLS_CLIENT_KEY }, {});
    expect(read).toThrow(/^CORE_TLS_CLIENT_KEY must be (?!.*geheim)/);
    const plain = { ...env, CORE_URL: "http://127.0.0.1:1", CORE_TLS_CA: import.meta.filename };
    expect(() => readCoreConfig(plain, {})).toThrow(/^CORE_TLS_CA/);
  });
});
