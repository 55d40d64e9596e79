import { describe, expect, it } from "vitest";
import { isPublicAddress } from "./public-address.ts";
import {
  PLATFORM_IPV4_BLOCKS,
  PLATFORM_IPV6_BLOCKS,
  SPECIAL_IPV4_BLOCKS,
  SPECIAL_IPV6_BLOCKS,
} from "./special-blocks.ts";

describe("ADR 0027: isPublicAddress", () => {
  it.each([...SPECIAL_IPV4_BLOCKS, ...PLATFORM_IPV4_BLOCKS])(
    "is false for %s, first to last, in every form inside IPv6",
    (block) => {
      for (const address of firstAndLast(block)) {
        const [a = 0, b = 0, c = 0, d = 0] = address.split(".").map(Number);
        const hex = (high: number, low: number) => (high * 256 + low).toString(16);
        const flipped = `${hex(a ^ 255, b ^ 255)}:${hex(c ^ 255, d ^ 255)}`;
        const wrapped = [
          address,
          `::ffff:${address}`,
          `64:ff9b::${address}`,
          `2002:${hex(a, b)}:${hex(c, d)}::1`,
          `2001:0:808:808:0:0:${flipped}`,
          `2001:0:${hex(a, b)}:${hex(c, d)}:0:0:f7f7:f7f7`,
          `2606:4700::5efe:${address}`,
          `2606:4700:1:2:200:5efe:${address}`,
          `2002:808:808::5efe:${address}`,
        ];
        expect(wrapped.filter(isPublicAddress)).toEqual([]);
      }
    },
  );

  it.each([...SPECIAL_IPV6_BLOCKS, ...PLATFORM_IPV6_BLOCKS])("is false for %s", (block) => {
    const [first = ""] = block.split("/");
    expect(isPublicAddress(first.replace(/::$/, "::1"))).toBe(false);
  });

  it.each([
    "",
    "8.8.8",
    "0x8.8.8.8",
    "010.8.8.8",
    "8.8.8.8/32",
    "[2606:4700::1111]",
    "name.example",
  ])("is false for %j, which is no address in canonical spelling", (text) => {
    expect(isPublicAddress(text)).toBe(false);
  });

  it.each(["::8.8.8.8", "::808:808", "::ffff:0:8.8.8.8"])(
    "is false for %s, which reaches no IPv4 address",
    (address) => {
      expect(isPublicAddress(address)).toBe(false);
    },
  );

  it.each([
    "1.1.1.1",
    "8.8.8.8",
    "2606:4700::1111",
    "2a00::1",
    "64:ff9b::808:808",
    "2606:4700::5efe:8.8.8.8",
    "2606:4700::200:5efe:8.8.8.8",
    "2606:4700::100:5efe:127.0.0.1",
  ])("is true for %s", (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });
});

function firstAndLast(block: string): string[] {
  const [base = "", prefix = "32"] = block.split("/");
  const first = base.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
  const last = first + 2 ** (32 - Number(prefix)) - 1;
  return [first, last].map((number) =>
    [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join("."),
  );
}
