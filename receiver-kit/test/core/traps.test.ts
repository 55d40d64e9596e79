import { describe, expect, it } from "vitest";
import {
  type HeadersInput,
  type RawBody,
  statusFromError,
  VERIFICATION_REASONS,
  VerificationError,
  type VerificationReason,
  type VerifyOptions,
  verify,
} from "../../src/index.ts";
import { macFromSecret } from "../../src/signing-secret.ts";
import { createDelivery, createRawDelivery, OTHER_SECRET, SECRET } from "../signed-delivery.ts";

const OPTIONS = { secrets: SECRET };

/** Expects a refusal for `reason`, with an error that holds no secret. */
async function expectRefused(
  reason: VerificationReason,
  body: unknown,
  headers: unknown,
  options: VerifyOptions = OPTIONS,
) {
  const error = await verify(body as RawBody, headers as HeadersInput, options).then(
    () => expect.unreachable(`verified, though ${reason}`),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(VerificationError);
  expect((error as VerificationError).reason).toBe(reason);
  expect((error as VerificationError).message).not.toContain(SECRET.slice(6));
}

describe("headers", () => {
  it("are read from every shape that servers give them", async () => {
    const { body, headers } = await createDelivery();
    const lowerCase = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
    );
    const arrays = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, [value]]),
    );
    const shapes: HeadersInput[] = [
      headers,
      lowerCase,
      arrays,
      new Headers(headers),
      Object.entries(headers),
      new Map(Object.entries(headers)),
      new Headers(headers).entries(),
      { get: (name: string) => new Headers(headers).get(name) } as unknown as HeadersInput,
      { ...headers, get: "a header of this name" },
      [...Object.entries(headers), "text"] as unknown as HeadersInput,
    ];
    for (const shape of shapes) await expect(verify(body, shape, OPTIONS)).resolves.toBeDefined();
  });

  it.each(["Service-Event-Id", "Service-Timestamp", "Service-Signature"])(
    "refuse a missing, empty or repeated %s",
    async (name) => {
      const { body, headers } = await createDelivery();
      const { [name]: value = "", ...others } = headers;
      await expectRefused("missing_header", body, others);
      await expectRefused("missing_header", body, { ...headers, [name]: "" });
      await expectRefused("missing_header", body, { ...headers, [name]: undefined });
      await expectRefused("missing_header", body, { ...headers, [name]: 7 });
      await expectRefused("repeated_header", body, { ...headers, [name]: [value, value] });
      await expectRefused("repeated_header", body, { ...headers, [name.toLowerCase()]: value });
      await expectRefused("repeated_header", body, { ...headers, [name]: `${value}, ${value}` });
      await expectRefused("repeated_header", body, [...Object.entries(headers), [name, value]]);
      const joined = new Headers(headers);
      joined.append(name, value);
      await expectRefused("repeated_header", body, joined);
    },
  );

  const named = ["get", "then"].map((name) => Object.fromEntries([[name, "a header's text"]]));
  it.each([[], {}, [[]], [["then", "a"]], ...named])("refuse %j for headers", (headers) =>
    expectRefused("missing_header", "{}", headers),
  );

  it.each([
    ["undefined", undefined],
    ["null", null],
    ["a number", 7],
    ["JSON text", '{"Service-Event-Id":"wev_1"}'],
    ["a function", () => new Headers()],
    ["a promise", Promise.resolve(new Headers())],
    ["a flat list", ["Host", "localhost", "Accept", "*/*"]],
  ])("are not given if the receiver passes %s", (_name, headers) =>
    expectRefused("headers_not_given", "{}", headers),
  );

  it("are read from a promise that has the methods of headers too", async () => {
    const { body, headers } = await createDelivery();
    const both = new Headers(headers);
    const shape = Object.assign(Promise.resolve(both), { get: (name: string) => both.get(name) });
    await expect(verify(body, shape, OPTIONS)).resolves.toBeDefined();
  });
});

describe("timestamps", () => {
  it.each(["123abc", "", " 1767225600", "1767225600.0", "1.7e9", "-1", "+1", "0x1f", "NaN", "١٢٣"])(
    "refuse %j",
    async (timestamp) => {
      const { body, headers } = await createDelivery();
      const reason = timestamp === "" ? "missing_header" : "malformed_timestamp";
      await expectRefused(reason, body, { ...headers, "Service-Timestamp": timestamp });
    },
  );

  it("are all refused if the tolerance or the clock is not a number", async () => {
    const { body, headers } = await createDelivery();
    await expectRefused("timestamp_too_old", body, headers, { ...OPTIONS, toleranceSeconds: NaN });
    await expectRefused("timestamp_too_old", body, headers, { ...OPTIONS, clock: () => NaN });
  });
});

describe("signatures", () => {
  it.each([
    ["without a version", (hex: string) => hex],
    ["cut short", (hex: string) => `v1=${hex.slice(1)}`],
    ["with more after it", (hex: string) => `v1=${hex}0`],
    ["with more before it", (hex: string) => `v2=0 v1=${hex}`],
    ["with a line end after it", (hex: string) => `v1=${hex}\n`],
    ["of other letters", (hex: string) => `v1=${hex.slice(1)}g`],
  ])("are malformed %s", async (_name, change) => {
    const { body, headers } = await createDelivery();
    const hex = `a${String(headers["Service-Signature"]).slice(4)}`;
    const changed = { ...headers, "Service-Signature": change(hex) };
    await expectRefused("malformed_signature", body, changed);
  });

  it("match any of several secrets, and no other", async () => {
    const { body, headers } = await createDelivery();
    await expect(verify(body, headers, { secrets: [OTHER_SECRET, SECRET] })).resolves.toBeDefined();
    await expectRefused("signature_mismatch", body, headers, { secrets: [OTHER_SECRET] });
  });

  it("cover the timestamp, the id and every byte of the body", async () => {
    const { body, headers, eventId } = await createDelivery();
    const later = String(Number(headers["Service-Timestamp"]) + 1);
    for (const changed of [
      { "Service-Timestamp": later },
      { "Service-Timestamp": `0${later}` },
      { "Service-Event-Id": `${eventId}x` },
    ]) {
      await expectRefused("signature_mismatch", body, { ...headers, ...changed });
    }
    for (const changed of [`${body} `, JSON.stringify(JSON.parse(`${body}`), null, 1)]) {
      await expectRefused("signature_mismatch", changed, headers);
    }
  });
});

describe("secrets", () => {
  it.each([
    ...["", undefined, "whsec_", "whsec_short", SECRET.slice(6), `${SECRET}\n`, ` ${SECRET}`],
    ...[[], [""], [SECRET, ""], [SECRET, undefined], [SECRET, "whsec_short"]],
  ])("refuse %j", async (secrets) => {
    const { body, headers } = await createDelivery();
    await expectRefused("unusable_secret", body, headers, { secrets });
  });
});

it.each([
  [null, "got null"],
  [7, "got number"],
  ["", "it is empty"],
  [SECRET.slice(6), "it does not begin with whsec_"],
  [`${SECRET}\n`, "it holds white space"],
  ["whsec_short", "it is too short or holds other characters"],
])("a secret that is %j is refused in words", (secret, fault) => {
  expect(() => macFromSecret(secret)).toThrow(fault);
});

describe("bodies", () => {
  it("may be Buffer, Uint8Array, ArrayBuffer, other views and UTF-8 text", async () => {
    const { body, headers } = await createDelivery();
    const copy = Uint8Array.from(body);
    const shifted = new Uint8Array([0, ...copy]).subarray(1);
    for (const shape of [body, copy, copy.buffer, shifted, body.toString("utf8")]) {
      await expect(verify(shape, headers, OPTIONS)).resolves.toMatchObject({
        data: { message: "Grüße 🎉" },
      });
    }
    const view = new DataView(copy.buffer) as unknown as RawBody;
    await expect(verify(view, headers, OPTIONS)).resolves.toBeDefined();
  });

  it("are refused if something parsed or consumed them before", async () => {
    const { body, headers } = await createDelivery();
    const parsed: unknown = JSON.parse(body.toString());
    const detached = new ArrayBuffer(8);
    structuredClone(detached, { transfer: [detached] });
    const consumed = [parsed, undefined, null, {}, [], 7, true, detached, new ReadableStream()];
    for (const shape of consumed) await expectRefused("body_not_raw", shape, headers);
  });

  it("are never decoded before the signature is verified", async () => {
    const { headers } = await createDelivery();
    const invalidUtf8 = Buffer.from([0xff, 0xfe, 0x80]);
    await expectRefused("signature_mismatch", invalidUtf8, headers);
    const replaced = await createRawDelivery(Buffer.from("\ufffd"));
    await expectRefused("signature_mismatch", Buffer.from([0xff]), replaced.headers);
  });

  it.each([
    ["not_json", "{'id':1}"],
    ["not_an_event", '"wev_raw"'],
    ["not_an_event", '{"id":"wev_raw"}'],
    ["not_an_event", '{"id":["wev_raw"],"type":"x","created_at":"","test":true,"data":{}}'],
    ["not_an_event", '{"id":"wev_raw","type":"x","created_at":"","test":"true","data":{}}'],
    ["id_mismatch", '{"id":"wev_RAW","type":"x","created_at":"","test":true,"data":{}}'],
  ] as const)("are %s after a right signature over %s", async (reason, sent) => {
    const { body, headers } = await createRawDelivery(Buffer.from(sent));
    await expectRefused(reason, body, headers);
  });

  it("with duplicate keys show the receiver only the checked id", async () => {
    const rest = '"type":"x","created_at":"","test":false,"data":{}';
    const lastIsOther = Buffer.from(`{"id":"wev_raw",${rest},"id":"wev_other"}`);
    const refused = await createRawDelivery(lastIsOther);
    await expectRefused("id_mismatch", refused.body, refused.headers);
    const lastIsSame = Buffer.from(`{"id":"wev_other",${rest},"id":"wev_raw"}`);
    const accepted = await createRawDelivery(lastIsSame);
    const webhookEvent = await verify(accepted.body, accepted.headers, OPTIONS);
    expect(webhookEvent.id).toBe("wev_raw");
  });

  it("cannot give the event a prototype", async () => {
    const text =
      '{"id":"wev_raw","type":"x","created_at":"","test":false,"data":{"__proto__":{"a":1}}}';
    const { body, headers } = await createRawDelivery(Buffer.from(text));
    const webhookEvent = await verify(body, headers, OPTIONS);
    expect(Object.getPrototypeOf(webhookEvent.data)).toBe(Object.prototype);
  });
});

it.each([null, {}])("options that are %j count as a missing secret", async (options) => {
  const { body, headers } = await createDelivery();
  await expectRefused("unusable_secret", body, headers, options as VerifyOptions);
});

it("mistakes of the receiver are answered 500, everything that a sender can cause 400", () => {
  const mistakes = VERIFICATION_REASONS.filter(
    (reason) => statusFromError(new VerificationError(reason)) === 500,
  );
  expect(mistakes).toEqual(["unusable_secret", "headers_not_given", "body_not_raw"]);
  expect(statusFromError(new VerificationError("missing_header"))).toBe(400);
});

it("the reasons are a closed list, each with a message", () => {
  expect(VERIFICATION_REASONS).toHaveLength(13);
  for (const reason of VERIFICATION_REASONS) {
    expect(new VerificationError(reason).message).toMatch(/\w+ \w+/);
  }
});
