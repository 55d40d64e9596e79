import { randomBytes } from "node:crypto";
import * as proto from "@activity/proto";
import { createLog, type Log } from "@activity/runtime/log";
import { describe, expect, it } from "vitest";
import { findLogCause } from "../../dev-stack/src/log-cause.ts";
import { createCursorKey, signCursor } from "../../server/src/activity/activity-cursor.ts";
import { newApiKey } from "../../server/src/api-key/api-key.ts";
import { newServiceCredential } from "../../server/src/service-credential/service-credential.ts";
import { newSessionSecret } from "../../server/src/session/session-secret.ts";
import { newSigningSecret } from "../../server/src/signing-secret/signing-secret.ts";
import { makeSelfSigned } from "../../tools/demo/self-signed.ts";

const NAME = "Grace Hopper";

const apiKey = newApiKey().secret;
const credential = newServiceCredential().secret;
const session = newSessionSecret().secret;
const signingSecret = newSigningSecret();
const key = randomBytes(32);
const query = { order: "asc", limit: 50 } as unknown as Parameters<typeof signCursor>[2];
const position = { recordedAtMicros: 1_700_000_000_000_000, recordKey: "don_0123456789ab" };
const cursor = signCursor(createCursorKey(key), "0123456789abcde", query, position);
const pem = makeSelfSigned(1_700_000_000_000).key;
const token = `eyJhbGciOiJFUzI1NiJ9.${randomBytes(9).toString("base64url")}.${randomBytes(9).toString("base64url")}`;

/** A name, a text, and the parts of the text that must never be logged. */
const TEXTS: readonly (readonly [string, string, ...string[]])[] = [
  ["an API key", apiKey, apiKey],
  ["an API key in a sentence", `the key ${apiKey}, used twice`, apiKey],
  ["an API key of another service prefix", `tips_live_${"ab".repeat(32)}`, "ab".repeat(8)],
  ["a part of an API key", apiKey.slice(0, 30), apiKey.slice(9, 30)],
  ["a service credential", `x-service-credential: ${credential}`, credential],
  ["a session's cookie", `__Host-session=${session}; Path=/`, session],
  ["a link into the dashboard", `https://dash.example.com/#code=${session}`, session],
  ["the code of a link", `{"code":"${session}"}`, session],
  ["a signing secret", `${signingSecret} signs`, signingSecret, signingSecret.slice(6)],
  ["a key in hexadecimal", `CURSOR_KEYS=${key.toString("hex")}`, key.toString("hex")],
  ["a cursor", `no such cursor as ${cursor}.`, cursor],
  ["a database's URL", "mysql://app:p@ss:w/rd@db.example:3306/x failed", "p@ss", "w/rd", "app"],
  ["a Redis URL without a user", "rediss://:geheim@cache.example:6379", "geheim"],
  ["a Redis Cluster's URL", "redis-cluster://app:geheim@cache.example?node=b", "geheim", "app"],
  ["a receiver's URL", "POST https://hooks.example/T0/B0/geheim?sig=geheim", "geheim", "T0"],
  ["an Authorization header", "Authorization: Bearer geheimgeheim", "geheim"],
  ["an Authorization header as JSON", '{"authorization":"Basic Z2VoZWltOmdlaGVpbQ=="}', "Z2Vo"],
  ["a bearer token by itself", "sent Bearer geheim.geheim~1", "geheim"],
  ["a JSON Web Token", `api key ${token}`, token, token.slice(-12)],
  ["a private key", `read ${pem}`, pem.split("\n")[1] ?? ""],
  ["a password", "login failed, password=geheim", "geheim"],
];

/** Fields with confidential values. */
const FIELDS = [
  ...["donorName", "actor_name", "displayName", "username"],
  ...["payload", "responseBody", "responseHeaders"],
];

/** Texts that are not secret and must stay readable. */
const HARMLESS = [
  "activity.read.v1.ActivityService/ListActivities",
  "req_o9zsj3J2Ct4e1qQy73UNJQ",
  "INVALID_ARGUMENT",
  "deliveries-0123456789ab",
  "127.0.0.1",
  "the core refuses GATEWAY_CREDENTIAL; requests get 503",
];

describe("the log", () => {
  function lineOf(write: (log: Log) => void): string {
    const lines: string[] = [];
    write(createLog((line) => lines.push(line)));
    expect(lines).toHaveLength(1);
    return lines[0] ?? "";
  }

  it.each(TEXTS)(
    "never holds %s, nor does the cause that the terminal shows from a server's log",
    (_name, text, ...confidential) => {
      const error = Object.assign(new Error(text), { code: text });
      const shown = [
        lineOf((log) => log.error(text)),
        lineOf((log) => log.error("failed", { detail: text })),
        lineOf((log) => log.error("failed", { deep: { list: [text] } })),
        lineOf((log) => log.error("failed", { cause: error })),
        lineOf((log) => log.error("failed", { bytes: Buffer.from(text) })),
      ];
      for (const line of shown) expect(() => JSON.parse(line)).not.toThrow();
      const cause = findLogCause(`[ERROR] ${text.replaceAll("\n", " ")}`);
      for (const said of [...shown, cause]) {
        for (const each of confidential) expect(said).not.toContain(each);
      }
      expect(shown.at(-1)).not.toContain(`[${[...Buffer.from(text)].slice(0, 4).join()}`);
    },
  );

  it.each(FIELDS)("never holds the value of a field %s", (name) => {
    expect(lineOf((log) => log.info("stored", { [name]: NAME }))).not.toContain(NAME);
    expect(lineOf((log) => log.info("stored", { deep: { [name]: NAME } }))).not.toContain(NAME);
  });

  it("never holds an error's text, but its class, code and stack", () => {
    const cause = Object.assign(new TypeError(`asked for\n ${NAME}`), { code: 14 });
    const line = lineOf((log) => log.error("failed", { cause }));
    expect(line).not.toContain(NAME);
    expect(JSON.parse(line)).toEqual({
      ...{ level: "error", message: "failed" },
      cause: { name: "TypeError", code: 14, at: expect.arrayContaining([expect.any(String)]) },
    });
    expect(line).toContain("redacted-logs.test.ts");
  });

  it.each(HARMLESS)("keeps a harmless text as it is: %s", (text) => {
    expect(JSON.parse(lineOf((log) => log.info(text, { text })))).toMatchObject({
      message: text,
      text,
    });
  });
});

it("shows no field of a proto with a secret, a URL or a payload: each is marked debug_redact", () => {
  const fields = Object.values(proto)
    .filter((exported) => typeof exported === "object" && "kind" in exported)
    .flatMap((exported) => (exported.kind === "message" ? exported.fields : []))
    .filter(({ name }) => ["secret", "url", "payload"].includes(name));
  expect(fields.length).toBeGreaterThan(0);
  const shown = fields.filter(({ proto: field }) => !field.options?.debugRedact);
  expect(shown.map(({ parent, name }) => `${parent.typeName}.${name}`)).toEqual([]);
});
