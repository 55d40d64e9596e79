import { describe, expect, it } from "vitest";
import { findApiKey } from "./bearer-token.ts";

const KEY = `act_live_${"0123456789abcdef".repeat(4)}`;

describe("§5 the Authorization header", () => {
  it.each(["Bearer", "bearer", "BEARER"])("gives the key after the scheme %s", (scheme) => {
    expect(findApiKey([`${scheme} ${KEY}`])).toBe(KEY);
    expect(findApiKey([`${scheme}   ${KEY}`])).toBe(KEY);
  });

  it.each([
    ["nothing", []],
    ["two headers", [`Bearer ${KEY}`, `Bearer ${KEY}`]],
    ["an empty header", [""]],
    ["the scheme alone", ["Bearer"]],
    ["no scheme", [KEY]],
    ["another scheme", [`Basic ${KEY}`]],
    ["two values joined", [`Bearer ${KEY}, Bearer ${KEY}`]],
    ["a tab", [`Bearer\t${KEY}`]],
    ["more after it", [`Bearer ${KEY} x`]],
    ["a short key", [`Bearer ${KEY.slice(0, -1)}`]],
    ["upper case", [`Bearer ${KEY.toUpperCase()}`]],
    ["a service credential", [`Bearer ${KEY.replace("_live_", "_svc_")}`]],
  ])("gives none of %s", (_name, headers) => {
    expect(findApiKey(headers)).toBeUndefined();
  });
});
