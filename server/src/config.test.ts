import { join } from "node:path";
import { expect, it } from "vitest";
import { certify } from "../../test/harness/certify.ts";
import { useFolder } from "../../test/harness/use-started.ts";
import { readConfig } from "./config.ts";

const KEY = "0".repeat(64);
const GOOD = { DATABASE_URL: "mysql://u:p@127.0.0.1/app", CURSOR_KEYS: KEY, SECRET_KEYS: KEY };

it.each([
  ["DATABASE_URL", "mysql://u:geheim@db.example/app"],
  ["DATABASE_URL", "mysql://u:geheim@10.0.0.7:3306/app"],
  ["REDIS_URL", "redis://:geheim@limiter:6379"],
  ["REDIS_URL", "redis-cluster://127.0.0.1:7000?node=10.0.0.8:7001"],
  ["REDIS_URL", "redis-cluster://u:geheim@127.0.0.1:7000"],
])("%s may lead to another machine in plain text only with ALLOW_PLAINTEXT: %s", (name, url) => {
  const env = { ...GOOD, [name]: url };
  expect(() => readConfig(env)).toThrow(
    new RegExp(`^${name} (leads|may lead) to another machine without TLS`),
  );
  expect(() => readConfig(env)).not.toThrow(/geheim/);
  expect(() => readConfig({ ...env, ALLOW_PLAINTEXT: "trusted-network" })).not.toThrow();
});

it.each([
  ["DATABASE_URL", "mysql://u:p@localhost/app"],
  ["DATABASE_URL", "mysql://u:p@[::1]/app"],
  ["DATABASE_URL", "mysql:///app"],
  ["DATABASE_URL", "mysql://u:p@db.example/app?ssl-mode=VERIFY_IDENTITY"],
  ["REDIS_URL", "redis://127.0.0.1"],
  ["REDIS_URL", "redis:///0"],
  ["REDIS_URL", "rediss://limiter:6379"],
  ["REDIS_URL", "redis-cluster://127.0.0.1:7000"],
  ["REDIS_URL", "rediss-cluster://u:p@limiter:7000"],
])("%s needs no ALLOW_PLAINTEXT on this machine or with TLS: %s", (name, url) => {
  expect(() => readConfig({ ...GOOD, [name]: url })).not.toThrow();
});

it("the settings refuse unsafe targets, and plain text from other machines", () => {
  const unsafe = { WEBHOOK_ALLOWED_TARGETS: "127.0.0.1:8443", WEBHOOK_EXTRA_CA: "/no/such/file" };
  expect(() => readConfig({ ...GOOD, ...unsafe, CORE_HOST: "0.0.0.0" })).toThrow(
    /^WEBHOOK_ALLOWED_TARGETS is for .*\nWEBHOOK_EXTRA_CA is for .*\nCORE_HOST .*$/,
  );
});

const folder = useFolder("core-tls");

it("the core's certificate files are refused, with their variables, before anything is opened", () => {
  for (const name of ["a", "b"]) certify(folder, name, "IP:127.0.0.1");
  const file = (name: string) => join(folder, name);
  const read = (cert: string, key: string, ca: string) =>
    readConfig({
      ...{ ...GOOD, CORE_TLS_CERT: cert, CORE_TLS_KEY: key },
      CORE_TLS_CLIENT_CA: ca,
    }).tls;
  const [cert, key] = [file("a.pem"), file("a.key")];
  expect(read(cert, key, cert)).toEqual({ certFile: cert, keyFile: key, clientCaFile: cert });
  expect(read(cert, key, "")?.clientCaFile).toBeUndefined();
  expect(() => read(cert, file("b.key"), cert)).toThrow(/^CORE_TLS_CERT and CORE_TLS_KEY must be/);
  expect(() => read(folder, key, cert)).toThrow(/^CORE_TLS_CERT must be .*$/);
  expect(() => read(cert, key, key)).toThrow(/^CORE_TLS_CLIENT_CA must be .*$/);
});
