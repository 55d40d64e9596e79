import { describe, expect, it } from "vitest";
import { parseGreeting } from "./server-greeting.ts";

function packet(body: Buffer): Buffer {
  return Buffer.concat([Buffer.from([body.length, 0, 0, 0]), body]);
}

describe("parseGreeting", () => {
  it("reads the version of MySQL and of MariaDB", () => {
    const mysql = packet(Buffer.from("\u000a9.7.4\0rest"));
    const mariadb = packet(Buffer.from("\u000a5.5.5-10.11.19-MariaDB\0rest"));
    expect(parseGreeting(mysql)).toEqual({ kind: "server", version: "9.7.4" });
    expect(parseGreeting(mariadb)).toEqual({ kind: "server", version: "10.11.19-MariaDB" });
  });

  it("waits for the rest of a packet", () => {
    const whole = packet(Buffer.from("\u000a9.7.4\0rest"));
    expect(parseGreeting(whole.subarray(0, 3))).toBeUndefined();
    expect(parseGreeting(whole.subarray(0, 8))).toBeUndefined();
  });

  it("reads a refusal", () => {
    const refusal = packet(Buffer.concat([Buffer.from([0xff, 0x10, 0x04]), Buffer.from("Full")]));
    expect(parseGreeting(refusal)).toEqual({ kind: "refused", message: "Full" });
  });

  it("knows other protocols from a database's", () => {
    expect(parseGreeting(Buffer.from("HTTP/1.1 400 Bad Request\r\n"))).toEqual({ kind: "other" });
    expect(parseGreeting(Buffer.from("SSH-2.0-x\r\n"))).toEqual({ kind: "other" });
  });
});
