import * as contract from "@activity/proto";
import { create, type DescField, type DescMessage, type DescService } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import { DurationSchema } from "@bufbuild/protobuf/wkt";
import { createValidator } from "@bufbuild/protovalidate";
import { expect, it } from "vitest";

/** More than any call may name. */
const YEAR_SECONDS = 31_536_000n;
const validator = createValidator();

const services = Object.values(contract as Record<string, unknown>).filter(isService);

function isService(each: unknown): each is DescService {
  return typeof each === "object" && each !== null && "kind" in each && each.kind === "service";
}

/** The messages that callers send, with those inside. */
function messagesOf(message: DescMessage, seen = new Set<DescMessage>()): Set<DescMessage> {
  if (seen.has(message)) return seen;
  seen.add(message);
  for (const field of message.fields) if (field.message) messagesOf(field.message, seen);
  return seen;
}

const sent = new Set(
  services.flatMap(({ methods }) => methods.flatMap(({ input }) => [...messagesOf(input)])),
);
const durations = [...sent].flatMap(({ fields }) =>
  fields.filter(({ message }) => message?.typeName === DurationSchema.typeName),
);

/** Whether a value of the field breaks its rules. */
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
  "refuses a negative and an endless %s",
  (_, field) => {
    expect([isRefused(field, -1n), isRefused(field, YEAR_SECONDS)]).toEqual([true, true]);
    expect(isRefused(field, 1n)).toBe(false);
  },
);
