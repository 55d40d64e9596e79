import { describe, expect, it } from "vitest";
import { parseEndpointUrl } from "../../../server/src/endpoint/endpoint-url.ts";
import { urlProblem } from "./url-rules.ts";

const GOOD = [
  "https://example.com/hook",
  "https://example.com:443/hook?a=b",
  "https://bücher.example.org./",
  "https://93.184.215.14/hook",
  "https://172.32.0.1/",
  "https://100.128.0.1/",
  "https://[2606:4700::1111]/hook",
];
const BAD = [
  "",
  "example.com",
  "http://example.com/",
  "https://user@example.com/",
  "https://:secret@example.com/",
  "https://example.com/#part",
  "https://example.com/#",
  "https://example.com:8443/",
  "https://localhost/",
  "https://shop.localhost/",
  "https://intranet/",
  "https://printer.local/",
  "https://-a.example/",
  "https://0x7f.1/",
  "https://10.1.2.3/",
  "https://100.64.0.1/",
  "https://100.127.255.255/",
  "https://127.0.0.1/",
  "https://169.254.169.254/",
  "https://172.16.0.1/",
  "https://172.31.255.255/",
  "https://192.168.1.1/",
  "https://224.0.0.1/",
  "https://255.255.255.255/",
  "https://[::1]/",
  "https://[::ffff:127.0.0.1]/",
  "https://[fd00::1]/",
  `https://example.com/${"a".repeat(2048)}`,
];

describe("the live check of an endpoint's URL says what the server would. §6", () => {
  const server = (url: string) => parseEndpointUrl(url, new Set());

  it.each(GOOD)("lets %s through", (url) => {
    expect(() => server(url)).not.toThrow();
    expect(urlProblem(url)).toBeUndefined();
  });

  it.each(BAD)("refuses %s", (url) => {
    expect(() => server(url)).toThrow();
    expect(urlProblem(url)).toMatch(/\.$/);
  });
});
