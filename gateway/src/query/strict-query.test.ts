import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InvalidParameterError } from "./invalid-parameter-error.ts";
import { parseStrictQuery } from "./strict-query.ts";

const NAMES = ["limit", "type", "cursor"] as const;
const parse = (query: string) => Object.fromEntries(parseStrictQuery(query, NAMES));

describe("§4.2 a query", () => {
  it("is decoded as a form", () => {
    expect(parse("")).toEqual({});
    expect(parse("limit=5&type=a+b%20c")).toEqual({ limit: "5", type: "a b c" });
    expect(parse("l%69mit=%35")).toEqual({ limit: "5" });
    expect(parse("type=a=b")).toEqual({ type: "a=b" });
    expect(parse("type=%F0%9F%92%9C")).toEqual({ type: "💜" });
  });

  it("may have an empty value for cursor only", () => {
    expect(parse("cursor=")).toEqual({ cursor: "" });
    expect(parse("cursor")).toEqual({ cursor: "" });
    expect(() => parse("limit=")).toThrow("limit may not be empty.");
    expect(() => parse("limit")).toThrow("limit may not be empty.");
  });

  it.each([
    ["an unknown name", "x=1"],
    ["another case", "Limit=1"],
    ["a space in the name", "+limit=1"],
    ["an empty name", "=1"],
    ["an empty pair", "limit=1&"],
    ["only a separator", "&"],
    ["a repeated name", "limit=1&limit=1"],
    ["a repeated name, written differently", "limit=1&%6Cimit=1"],
    ["a broken escape", "type=%"],
    ["a short escape", "type=%4"],
    ["an escape that is not hexadecimal", "type=%zz"],
    ["invalid UTF-8", "type=%FF"],
    ["overlong UTF-8", "type=%C0%AF"],
    ["an encoded surrogate", "type=%ED%A0%80"],
  ])("with %s is refused", (_name, query) => {
    expect(() => parse(query)).toThrow(InvalidParameterError);
  });

  it("is refused with its parameter's name, but never with a name or value that looks like an API key", () => {
    const apiKey = `act_live_${"0123456789abcdef".repeat(4)}`;
    expect(() => parse("Limit=1")).toThrow(
      "Limit is an unknown parameter: limit, type, cursor are accepted here.",
    );
    expect(() => parseStrictQuery("x=1", [])).toThrow("none is accepted here.");
    expect(() => parse("type=%")).toThrow("type is not well-formed");
    expect(() => parse("%=donation")).toThrow(InvalidParameterError);
    expect(() => parse("=1")).toThrow("The name of a parameter may not be empty.");
    expect(() => parse("%=1")).toThrow(/^(?!.*undefined)/);
    for (const query of [`${apiKey}=1`, `limit=${apiKey}&limit=1`, `limit=1&${apiKey}`]) {
      expect(() => parse(query)).toThrow(/^(?!.*act_live)/);
    }
  });

  it("returns each encoded value, and throws nothing but InvalidParameterError", () => {
    const text = fc.string({ unit: "grapheme", minLength: 1 });
    fc.assert(
      fc.property(text, text, (type, cursor) => {
        const query = new URLSearchParams({ type, cursor }).toString();
        expect(parse(query)).toEqual({ type, cursor });
      }),
    );
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (query) => {
        try {
          parse(query);
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidParameterError);
        }
      }),
    );
  });
});
