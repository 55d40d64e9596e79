import { createHmac } from "node:crypto";
import { writeFileSync } from "node:fs";
import path from "node:path";

const SECRET = `whsec_${Buffer.from(Array.from({ length: 32 }, (_, index) => index)).toString("base64")}`;
const TIMESTAMP = "1767225600";
const FILE = path.resolve(import.meta.dirname, "../vectors.json");

const envelope = (data: object, rest: object = {}) =>
  JSON.stringify({
    id: "wev_0123456789abcde",
    type: "donation.created",
    created_at: "2026-01-01T00:00:00.000000Z",
    test: false,
    data: { id: "0123456789abcde", ...data },
    ...rest,
  });

interface Case {
  name: string;
  body: string | Buffer;
  reason?: string;
  eventId?: string;
  timestamp?: string;
  nowSeconds?: number;
  signature?: string;
  secret?: string;
}

const plain = envelope({ amount_cents: 500, currency: "eur", donor_name: "Ada", message: "Hi" });
const now = Number(TIMESTAMP);
const cases: Case[] = [
  { name: "plain ASCII", body: plain },
  { name: "text beyond ASCII, as UTF-8", body: envelope({ message: "Grüße, 日本, 🎉 \u2028" }) },
  {
    name: "the same text as JSON escapes",
    body: envelope({ message: "X" }).replace("X", "Gr\\u00fc\\u00dfe"),
  },
  { name: "white space around and within", body: `\n ${plain.replaceAll(",", " ,\t")} \r\n` },
  { name: "nothing in data but the id", body: envelope({}) },
  { name: "an unknown kind", body: envelope({ x: 1 }, { type: "raid.started" }) },
  { name: "a test", body: envelope({}, { test: true }) },
  { name: "no body", body: "", reason: "not_json" },
  { name: "one space", body: " ", reason: "not_json" },
  { name: "an empty object", body: "{}", reason: "not_an_event" },
  { name: "an array", body: "[]", reason: "not_an_event" },
  { name: "null", body: "null", reason: "not_an_event" },
  { name: "a byte order mark first", body: `\ufeff${plain}`, reason: "not_json" },
  {
    name: "invalid UTF-8 that is signed",
    body: Buffer.concat([Buffer.from('{"id":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]),
    reason: "not_json",
  },
  {
    name: "another id in the body",
    body: plain,
    eventId: "wev_zzzzzzzzzzzzzzz",
    reason: "id_mismatch",
  },
  { name: "five minutes old, still good", body: plain, nowSeconds: now + 300 },
  { name: "five minutes ahead, still good", body: plain, nowSeconds: now - 300 },
  {
    name: "five minutes and a second old",
    body: plain,
    nowSeconds: now + 301,
    reason: "timestamp_too_old",
  },
  {
    name: "five minutes and a second ahead",
    body: plain,
    nowSeconds: now - 301,
    reason: "timestamp_too_new",
  },
  {
    name: "a timestamp with a leading zero, signed as it is written",
    body: plain,
    timestamp: `0${TIMESTAMP}`,
  },
  {
    name: "a timestamp with letters after it",
    body: plain,
    timestamp: `${TIMESTAMP}abc`,
    reason: "malformed_timestamp",
  },
  {
    name: "a timestamp with a sign",
    body: plain,
    timestamp: `+${TIMESTAMP}`,
    reason: "malformed_timestamp",
  },
  {
    name: "a timestamp with a fraction",
    body: plain,
    timestamp: `${TIMESTAMP}.0`,
    reason: "malformed_timestamp",
  },
  {
    name: "a signature in upper case",
    body: plain,
    signature: "upper",
    reason: "malformed_signature",
  },
  {
    name: "a signature of another version",
    body: plain,
    signature: "v2",
    reason: "malformed_signature",
  },
  {
    name: "a signature keyed without whsec_",
    body: plain,
    signature: "cut",
    reason: "signature_mismatch",
  },
  {
    name: "a signature keyed with the decoded base64",
    body: plain,
    signature: "decoded",
    reason: "signature_mismatch",
  },
  {
    name: "a signature over the body alone",
    body: plain,
    signature: "body",
    reason: "signature_mismatch",
  },
];

writeFileSync(
  FILE,
  `${JSON.stringify({ about: "Deliveries and what a receiver must find. body_base64 holds the exact bytes; verify at now_seconds with a tolerance of 300. reason is null when the delivery is good.", vectors: cases.map(vectorFromCase) }, null, 2)}\n`,
);

function vectorFromCase(testCase: Case) {
  const {
    name,
    body,
    reason = null,
    eventId = "wev_0123456789abcde",
    timestamp = TIMESTAMP,
  } = testCase;
  const bytes = Buffer.from(body);
  const mac = (secret: string | Buffer, prefix = `${timestamp}.${eventId}.`) =>
    createHmac("sha256", secret).update(prefix).update(bytes).digest("hex");
  const hexByVariant: Record<string, () => string> = {
    upper: () => `v1=${mac(SECRET).toUpperCase()}`,
    v2: () => `v2=${mac(SECRET)}`,
    cut: () => `v1=${mac(SECRET.slice(6))}`,
    decoded: () => `v1=${mac(Buffer.from(SECRET.slice(6), "base64"))}`,
    body: () => `v1=${mac(SECRET, "")}`,
  };
  return {
    name,
    secret: SECRET,
    now_seconds: testCase.nowSeconds ?? now,
    headers: {
      "Service-Event-Id": eventId,
      "Service-Timestamp": timestamp,
      "Service-Signature": hexByVariant[testCase.signature ?? ""]?.() ?? `v1=${mac(SECRET)}`,
    },
    body_base64: bytes.toString("base64"),
    reason,
  };
}
