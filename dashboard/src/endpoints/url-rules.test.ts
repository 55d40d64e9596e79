import { expect, it } from "vitest";
import { parseEndpointUrl } from "../../../server/src/endpoint/endpoint-url.ts";
import { texts } from "../texts.ts";
import { urlProblem } from "./url-rules.ts";

/**
 * The dashboard and the server share the rules. `server/src/endpoint/endpoint-url.test.ts` tests them with more URLs.
 */
it.each([
  ["", "notAbsolute"],
  ["example.com", "notAbsolute"],
  ["http://example.com/", "scheme"],
  ["https://user@example.com/", "userInfo"],
  ["https://example.com/#part", "fragment"],
  ["https://example.com:8443/", "port"],
  ["https://shop.localhost/", "host"],
  ["https://10.1.2.3/", "address"],
  [`https://example.com/${"a".repeat(2048)}`, "length"],
] as const)("the live check refuses %s, as the server does, by the rule of %s. §6", (url, rule) => {
  expect(() => parseEndpointUrl(url, new Set())).toThrow();
  expect(urlProblem(url)).toBe(texts.urlRules[rule]);
});

it.each([
  "https://bücher.example.org.:443/hook?a=b",
  "https://172.32.0.1/",
  "https://100.128.0.1/",
])("the live check accepts %s, as the server does. §6", (url) => {
  expect(() => parseEndpointUrl(url, new Set())).not.toThrow();
  expect(urlProblem(url)).toBeUndefined();
});
