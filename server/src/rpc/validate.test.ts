import * as contract from "@activity/proto";
import {
  create,
  type DescField,
  type DescMessage,
  type Message,
  ScalarType,
} from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import { DurationSchema } from "@bufbuild/protobuf/wkt";
import { createValidator } from "@bufbuild/protovalidate";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { METHODS } from "../../../test/harness/methods.ts";
import { createSurelyValid } from "./surely-valid.ts";
import { createValidate } from "./validate.ts";

/** A year, which is longer than any call accepts. */
const YEAR_SECONDS = 31_536_000n;
const validator = createValidator();
const isSurelyValid = createSurelyValid();

/** Returns a message type and all message types inside. */
function messagesOf(message: DescMessage, seen = new Set<DescMessage>()): Set<DescMessage> {
  if (seen.has(message)) return seen;
  seen.add(message);
  for (const field of message.fields) if (field.message) messagesOf(field.message, seen);
  return seen;
}

const sent = new Set(METHODS.flatMap(({ input }) => [...messagesOf(input)]));
const durations = [...sent].flatMap(({ fields }) =>
  fields.filter(({ message }) => message?.typeName === DurationSchema.typeName),
);

/** Whether the field's rules refuse a duration. */
function isRefused(field: DescField, seconds: bigint): boolean {
  const message = reflect(field.parent, create(field.parent));
  message.set(field, reflect(DurationSchema, create(DurationSchema, { seconds })));
  const { violations = [] } = validator.validate(field.parent, message.message);
  return violations.some(
    ({ field: [named] }) => named?.kind === "field" && named.name === field.name,
  );
}

it("finds the durations that callers send", () => {
  expect(durations.length).toBeGreaterThanOrEqual(5);
});

it.each(durations.map((field) => [`${field.parent.name}.${field.name}`, field] as const))(
  "refuses a negative and a very long %s",
  (_, field) => {
    expect([isRefused(field, -1n), isRefused(field, YEAR_SECONDS)]).toEqual([true, true]);
    expect(isRefused(field, 1n)).toBe(false);
  },
);

it("refuses an attempt without the time when it began, or an earlier one without its end", () => {
  const made = { attempt: 2, before: [{ outcome: contract.AttemptOutcome.TIMEOUT }] };
  const attempt = create(contract.MadeAttemptSchema, made);
  const { violations = [] } = validator.validate(contract.MadeAttemptSchema, attempt);
  const named = violations.map(({ field }) => field.findLast(({ kind }) => kind === "field"));
  const names = named.map((field) => field?.kind === "field" && field.name);
  expect(names).toEqual(expect.arrayContaining(["started_at", "ended_at"]));
});

it("lets one call with a page token begin at most 500 runs, ADR 0053", () => {
  const schema = contract.RetryFailedDeliveriesRequestSchema;
  const choice = { accountId: "abcdefghijklmno", since: {}, until: {} };
  const check = (pageSize: number) =>
    validator.validate(schema, create(schema, { ...choice, pageSize })).kind;
  expect([500, 501].map(check)).toEqual(["valid", "invalid"]);
});

/** The calls that state an amount paid through the service. */
const PAID: readonly DescMessage[] = [
  contract.CreateDonationRequestSchema,
  contract.RecordContributionRequestSchema,
];

it.each(["usd", "EUR", ""])(
  "§6.2 refuses donations and contributions in %j, with the reason",
  (currency) => {
    for (const schema of PAID) {
      const sent = create(schema, { currency } as never);
      const { violations = [] } = validator.validate(schema, sent);
      const sentences = violations.map(({ message }) => message);
      expect(sentences).toContain("must be eur: what is paid through the service is in euro only");
    }
  },
);

it("a refusal says what a field accepts in words, not as a pattern or as numbers", async () => {
  const next = () => Promise.reject(new Error("it is valid"));
  const check = createValidate(() => ({ isValidated: true }) as never)(next);
  const sentences: string[] = [];
  for (const input of sent) {
    const wrong = input.fields.flatMap(({ oneof, localName, fieldKind, enum: values, scalar }) => {
      const value = values ? 99 : "!";
      if (oneof || !(values || scalar === ScalarType.STRING)) return [];
      return [[localName, fieldKind === "list" ? [value] : value]];
    });
    const message = create(input, Object.fromEntries(wrong));
    const call = { stream: false, method: { input }, message };
    const error: Error = await check(call as never).catch((thrown) => thrown);
    sentences.push(...error.message.replace(/\.$/, "").split("; "));
  }
  expect(sentences.filter((sentence) => /^:|regex|enum|list/.test(sentence))).toEqual([]);
  for (const sentence of [
    "account_id accepts 15 characters, a-z and 0-9",
    "validity_days accepts 30, 90, 365",
    "outcome accepts DISPUTE_OUTCOME_WON, DISPUTE_OUTCOME_LOST",
    "scopes accepts SESSION_SCOPE_KEYS_READ, SESSION_SCOPE_KEYS_WRITE",
  ]) {
    expect(sentences.join("\n")).toContain(sentence);
  }
});

describe("a message that is found surely valid", () => {
  const near = (...values: number[]) => values.flatMap((value) => [value - 1, value, value + 1]);
  const LENGTHS = near(15, 64, 128, 200, 255, 1024, 2048, 4000);
  const INTS = near(1, 8, 64, 100, 599, 1000, 4096, 100_000);
  const BIGS = [...INTS.map(BigInt), 2n ** 53n - 1n, 2n ** 53n, 2n ** 63n - 1n, -(2n ** 63n)];
  const TEXTS = [
    ...["", "eur", "abcdefghijklmno", "abcdefghijklmno\n", "a@b.c", "https://a.example/", "é"],
    ...["a", "😀"].flatMap((letter) => LENGTHS.map((length) => letter.repeat(length))),
  ];
  const BYTES = near(1024).map((length) => new Uint8Array(length));

  function plainValues({ enum: values, scalar }: DescField): readonly unknown[] {
    if (values) return [...values.values.map(({ number }) => number), 99];
    if (scalar === ScalarType.STRING) return TEXTS;
    if (scalar === ScalarType.BOOL) return [true, false];
    if (scalar === ScalarType.BYTES) return BYTES;
    return scalar === ScalarType.INT64 ? BIGS : INTS;
  }

  function withValue({ parent, oneof, localName, fieldKind }: DescField, value: unknown): Message {
    const init = fieldKind === "list" ? [value] : value;
    return create(parent, {
      [oneof?.localName ?? localName]: oneof ? { case: localName, value: init } : init,
    } as never);
  }

  function keepsRules(field: DescField, value: unknown): boolean {
    const { violations = [] } = validator.validate(field.parent, withValue(field, value));
    return violations.every(({ field: [at] }) => at?.kind !== "field" || at.name !== field.name);
  }

  function valuesOf(field: DescField): fc.Arbitrary<unknown> {
    const plain = plainValues(field);
    const valid = plain.filter((value) => keepsRules(field, value));
    const one = field.message
      ? messages(field.message)
      : fc.oneof(
          { weight: 20, arbitrary: fc.constantFrom(...(valid.length > 0 ? valid : plain)) },
          { weight: 1, arbitrary: fc.constantFrom(...plain) },
        );
    return field.fieldKind === "list" ? fc.array(one, { maxLength: 3 }) : one;
  }

  function messages(schema: DescMessage): fc.Arbitrary<Message> {
    const plain = schema.fields.filter(({ oneof }) => !oneof);
    const fields = plain.map(
      (field) =>
        [field.localName, fc.option(valuesOf(field), { freq: 20, nil: undefined })] as const,
    );
    const oneofs = schema.oneofs.map(({ localName, fields }) => {
      const cases = fields.map((field) =>
        valuesOf(field).map((value) => ({ case: field.localName, value })),
      );
      return [localName, fc.option(fc.oneof(...cases), { freq: 20, nil: undefined })] as const;
    });
    return fc
      .record(Object.fromEntries([...fields, ...oneofs]))
      .map((init) => create(schema, init as never));
  }

  const ruled = [...sent].filter(({ typeName }) => !typeName.startsWith("google."));

  it.each(ruled.map((schema) => [schema.name, schema] as const))("is valid: %s", (_, schema) => {
    fc.assert(
      fc.property(messages(schema), (message) => {
        if (isSurelyValid(schema, message)) {
          expect(validator.validate(schema, message).kind).toBe("valid");
        }
      }),
      { numRuns: 500 },
    );
  });

  it("is what callers typically send", () => {
    const accountId = "abcdefghijklmno";
    const contribution = create(contract.RecordContributionRequestSchema, {
      ...{ accountId, externalId: "1", subscriptionExternalId: "1", amountCents: 500n },
      ...{ currency: "eur", donorName: "Ada", contributedAt: {} },
    });
    const event = create(contract.RecordPlatformEventRequestSchema, {
      ...{ accountId, platform: 2, externalId: "1", kind: { case: "follow", value: {} } },
    });
    expect(isSurelyValid(contract.RecordContributionRequestSchema, contribution)).toBe(true);
    expect(isSurelyValid(contract.RecordPlatformEventRequestSchema, event)).toBe(true);
  });
});
