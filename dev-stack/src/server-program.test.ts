import { describe, expect, it } from "vitest";
import { parseServerVersion } from "./server-program.ts";

describe("parseServerVersion", () => {
  it.each([
    ["/x/mysqld  Ver 9.7.4-2 for Linux on x86_64 ((Debian))", "mysql", "9.7.4"],
    ["mysqld  Ver 8.0.43-0ubuntu0.24.04.1 for Linux on x86_64 ((Ubuntu))", "mysql", "8.0.43"],
    ["mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu", "mariadb", "10.11.19"],
  ])("reads %s", (text, flavour, version) => {
    expect(parseServerVersion(text)).toEqual({ flavour, version });
  });

  it("does not take another program for a server", () => {
    expect(parseServerVersion("ls (GNU coreutils) 9.1")).toBeUndefined();
  });
});
