import { expect, it } from "vitest";
import { localAddress, localOrigin } from "./local-address.ts";

it.each([
  ["127.0.0.1", "127.0.0.1:80"],
  ["0.0.0.0", "127.0.0.1:80"],
  ["10.0.0.5", "10.0.0.5:80"],
  ["DESKTOP-AB1", "desktop-ab1:80"],
  ["::1", "[::1]:80"],
  ["::", "[::1]:80"],
])("what listens on %s is reached at %s", (host, address) => {
  expect(localAddress(host, 80)).toBe(address);
});

it.each([
  [80, "http://localhost"],
  [4180, "http://localhost:4180"],
])("a page on port %i has the origin %s", (port, origin) => {
  expect(localOrigin(port)).toBe(origin);
});
