import { expect, it } from "vitest";
import { readConfig } from "./config.ts";

const KEY = "0".repeat(64);
const GOOD = { DATABASE_URL: "mysql://u:p@127.0.0.1/app", CURSOR_KEYS: KEY, SECRET_KEYS: KEY };

it.each([
  ["DATABASE_URL", "mysql://u:geheim@db.example/app"],
  ["DATABASE_URL", "mysql://u:geheim@10.0.0.7:3306/app"],
  ["REDIS_URL", "redis://:geheim@limiter:6379"],
  ["REDIS_URL", "redis-cluster://127.0.0.1:7000?node=10.0.0.8:7001"],
])(
  "ADR 0036: %s may lead to another machine in plain text only with ALLOW_PLAINTEXT: %s",
  (name, url) => {
    const env = { ...GOOD, [name]: url };
    expect(() => readConfig(env)).toThrow(
      new RegExp(`^${name} leads to another machine without TLS`),
    );
    expect(() => readConfig(env)).not.toThrow(/geheim/);
    expect(() => readConfig({ ...env, ALLOW_PLAINTEXT: "trusted-network" })).not.toThrow();
  },
);

it.each([
  ["DATABASE_URL", "mysql://u:p@localhost/app"],
  ["DATABASE_URL", "mysql://u:p@[::1]/app"],
  ["DATABASE_URL", "mysql://u:p@db.example/app?ssl-mode=VERIFY_IDENTITY"],
  ["REDIS_URL", "redis://127.0.0.1"],
  ["REDIS_URL", "rediss://limiter:6379"],
])("ADR 0036: %s needs no ALLOW_PLAINTEXT on this machine or with TLS: %s", (name, url) => {
  expect(() => readConfig({ ...GOOD, [name]: url })).not.toThrow();
});
