import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { certify } from "../../../test/harness/certify.ts";
import { useFolder } from "../../../test/harness/use-started.ts";
import { parseDatabaseUrl } from "./database-url.ts";

const folder = useFolder("database-url");
const PLAIN = "mysql://user:geheim@db.example:3306/name";

describe("DATABASE_URL", () => {
  it("has no TLS without parameters", () => {
    expect(parseDatabaseUrl(PLAIN)).toMatchObject({ uri: PLAIN, tls: undefined });
  });

  it("is verified by the system's authorities, or by those of a file", () => {
    const url = `${PLAIN}?ssl-mode=VERIFY_IDENTITY`;
    expect(parseDatabaseUrl(url)).toMatchObject({ uri: PLAIN, tls: { ca: undefined } });
    for (const name of ["a", "b"]) certify(folder, name, "DNS:db.example");
    const pem = (name: string) => readFileSync(join(folder, `${name}.pem`), "utf8");
    const bundle = `# Two authorities\n${pem("a")}${pem("b")}`;
    const file = join(folder, "bundle.pem");
    writeFileSync(file, bundle);
    expect(parseDatabaseUrl(`${url}&ssl-ca=${file}`).tls?.ca?.toString()).toBe(bundle);
  });

  it.each([
    ["no URL", "geheim", /must be mysql:\/\//],
    ["another database", "postgres://user:geheim@db.example/name", /must be mysql:\/\//],
    ["a slash in the password", "mysql://user:ge/heim@db.example/name", /\/, \? and # in/],
    ["a slash after digits", "mysql://u:12/heim@db.example/name?ssl-mode=VERIFY_IDENTITY", /%2F/],
    ["a slash before a name", "mysql://u:12/heim@db.example", /%2F/],
    ["a hash after digits", "mysql://u:12#heim@db.example/name", /%23/],
    ["a question mark after digits", "mysql://u:12?heim@db.example/name", /%3F/],
    ["a bare percent sign", "mysql://user:ge%heim@db.example/name", /percent sign as %25/],
    ["a mode that checks less", `${PLAIN}?ssl-mode=REQUIRED`, /ssl-mode=VERIFY_IDENTITY only/],
    ["an authority without a mode", `${PLAIN}?ssl-ca=geheim`, /ssl-mode=VERIFY_IDENTITY only/],
    ["a misspelt parameter", `${PLAIN}?ssl_mode=VERIFY_IDENTITY`, /only the parameters/],
    ["an option of the driver", `${PLAIN}?ssl={"rejectUnauthorized":false}`, /only the parameters/],
    [
      "an authority that is not there",
      `${PLAIN}?ssl-mode=VERIFY_IDENTITY&ssl-ca=geheim`,
      /^The ssl-ca of DATABASE_URL must be the path/,
    ],
    [
      "an authority that is no certificate",
      `${PLAIN}?ssl-mode=VERIFY_IDENTITY&ssl-ca=${import.meta.filename}`,
      /^The ssl-ca of DATABASE_URL must be the path/,
    ],
    [
      "an IP address with TLS",
      "mysql://user:geheim@10.0.0.1/name?ssl-mode=VERIFY_IDENTITY",
      /needs the server's name/,
    ],
    [
      "an IPv6 address with TLS",
      "mysql://user:geheim@[::1]/name?ssl-mode=VERIFY_IDENTITY",
      /needs the server's name/,
    ],
  ])("refuses %s without showing it", (_, url, message) => {
    expect(() => parseDatabaseUrl(url)).toThrow(message);
    expect(() => parseDatabaseUrl(url)).not.toThrow(/heim/);
  });
});
