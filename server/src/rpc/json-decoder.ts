import { ScalarType } from "@bufbuild/protobuf";
import { nestedTypes } from "@bufbuild/protobuf/reflect";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import type { RegisteredService } from "./registered-service.ts";

const INTEGERS: readonly unknown[] = [ScalarType.INT32, ScalarType.INT64];
const UTF8 = new TextDecoder("utf-8", { fatal: true });

/** Checks the text of one member. Fails with what its field accepts. */
type Check = (name: string, text: string) => void;

/**
 * Creates the decoder of messages in JSON. Like the binary form, it refuses text that is not UTF-8. Otherwise two ids
 * could become one. It also refuses text that protobuf-es would read as another value: February 30 as March 2, "0x10"
 * as 16.
 */
export function createJsonDecoder(services: readonly RegisteredService[]): {
  decode(bytes?: Uint8Array): string;
} {
  const checks = checksByName(services);

  function check(value: unknown): void {
    if (Array.isArray(value)) value.forEach(check);
    else if (typeof value === "object" && value !== null) {
      for (const [name, member] of Object.entries(value)) {
        if (typeof member === "string") checks.get(name)?.(name, member);
        else check(member);
      }
    }
  }

  return {
    decode(bytes) {
      const text = UTF8.decode(bytes);
      check(JSON.parse(text));
      return text;
    },
  };
}

/**
 * Maps field names to checks, because a decoder does not know the message's type. This is enough, because no name is an
 * integer or time in one message and text in another.
 */
function checksByName(services: readonly RegisteredService[]): ReadonlyMap<string, Check> {
  const checks = new Map<string, Check>();
  for (const type of services.flatMap(({ service }) => [...nestedTypes(service.file)])) {
    for (const field of type.kind === "message" ? type.fields : []) {
      const check =
        (INTEGERS.includes(field.scalar) && checkInteger) ||
        (field.message?.typeName === TimestampSchema.typeName && checkTimestamp);
      if (check) checks.set(field.name, check).set(field.jsonName, check);
    }
  }
  return checks;
}

function checkInteger(name: string, text: string): void {
  if (!/^-?\d+$/.test(text)) throw new Error(`${name}: must be an integer in decimal digits.`);
}

function checkTimestamp(name: string, text: string): void {
  const seconds = text.slice(0, "YYYY-MM-DDTHH:MM:SS".length);
  const milliseconds = Date.parse(`${seconds}Z`);
  // Compares the texts, because Date parses February 30 as March 2, and hour 24 as the next day.
  const exists =
    !Number.isNaN(milliseconds) && new Date(milliseconds).toISOString().startsWith(seconds);
  if (!exists) throw new Error(`${name}: must be a time that exists, as 2026-01-31T23:59:59Z.`);
}
