import { WebhookEventKind as ProtoKind } from "@activity/proto";
import { expect, it } from "vitest";
import { KIND_NAMES, kindBits, kindsFromBits, WebhookEventKind } from "./webhook-event-kind.ts";

const numbers = Object.values(WebhookEventKind);

it("has every kind of the proto, with its name for receivers. §6.1", () => {
  const ofProto = Object.values(ProtoKind).filter((kind) => typeof kind === "number" && kind > 0);
  expect(numbers).toEqual(ofProto);
  expect(Object.keys(KIND_NAMES).map(Number)).toEqual(numbers);
});

it("packs any choice of kinds into one number, which endpoint.kinds can hold: 32 bits", () => {
  for (let bits = 0; bits < 32; bits += 2) expect(kindBits(kindsFromBits(bits))).toBe(bits);
  expect(kindsFromBits(kindBits(numbers))).toEqual(numbers);
  expect(kindBits(numbers)).toBeLessThan(2 ** 31);
  expect(Math.max(...numbers)).toBeLessThan(31);
});
