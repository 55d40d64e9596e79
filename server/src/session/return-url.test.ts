import { expect, it } from "vitest";
import { parseReturnUrl } from "./return-url.ts";

it("takes https, and http on this machine, as browsers write it. ADR 0038", () => {
  expect(parseReturnUrl("https://www.example.com/me?tab=1#top")).toBe(
    "https://www.example.com/me?tab=1#top",
  );
  expect(parseReturnUrl("HTTPS://Exämple.com/ä")).toBe("https://xn--exmple-cua.com/%C3%A4");
  for (const host of ["localhost:3000", "127.0.0.1", "[::1]:8080"]) {
    expect(parseReturnUrl(`http://${host}/`)).toBe(`http://${host}/`);
  }
  expect(parseReturnUrl("")).toBeUndefined();
});

it.each([
  "javascript:alert(1)",
  "data:text/html,x",
  "http://example.com/",
  "http://localhost.example.com/",
  "https://user@example.com/",
  "https://:word@example.com/",
  "//example.com",
  "example.com",
  "https://",
  `https://example.com/${"ä".repeat(400)}`,
])("refuses %s. ADR 0038", (text) => {
  expect(() => parseReturnUrl(text)).toThrow("return_url accepts");
});
