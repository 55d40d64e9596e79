import { describe, expect, it } from "vitest";
import { parseDatabaseUrl } from "./given-database.ts";

describe("parseDatabaseUrl", () => {
  it("reads host and port", () => {
    expect(parseDatabaseUrl("mysql://u:p@db.example/app")).toEqual({
      host: "db.example",
      port: 3306,
    });
    expect(parseDatabaseUrl("mariadb://u@[::1]:3307/app")).toEqual({ host: "::1", port: 3307 });
  });

  it.each(["", "db.example", "postgres://u:p@h/d", "mysql://h/d", "mysql://u:p@h", "mysql://u@h/"])(
    "refuses %j without repeating it",
    (text) => {
      expect(() => parseDatabaseUrl(text)).toThrow(/^DATABASE_URL must look like mysql:/);
    },
  );
});
