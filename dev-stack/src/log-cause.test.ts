import { describe, expect, it } from "vitest";
import { findLogCause } from "./log-cause.ts";

describe("findLogCause", () => {
  it.each([
    [
      "[ERROR] InnoDB: preallocating 12582912 bytes for file ./ibdata1 failed with error 28",
      "full",
    ],
    ["[ERROR] [MY-012640] [InnoDB] Error number 28 means 'No space left on device'", "full"],
    ["mariadbd: Can't create/write to file 'x' (Errcode: 28 \"No space left on device\")", "full"],
    [
      "[ERROR] Can't start server: Bind on TCP/IP port. Got error: 98: Address already in use",
      "port",
    ],
    ["[ERROR] InnoDB: Unable to lock ./ibdata1 error: 11", "another database server"],
    ["[ERROR] [MY-013171] [InnoDB] Cannot boot server version 90700 on data of 90800", "version"],
    ["[ERROR] InnoDB: Unsupported redo log format. It was created by x", "version"],
    ["[ERROR] [MY-000067] [Server] unknown variable 'wrong=1'.", "wrong=1"],
    ["mysqld: error while loading shared libraries: libaio.so.1: cannot open", "libaio.so.1"],
    ["mysqld: File './x' not found (OS errno 13 - Permission denied)", "owner and rights"],
    ["[ERROR] InnoDB: Database page corruption on disk", "damaged"],
  ])("explains %s", (line, words) => {
    expect(findLogCause(`some note\n${line}\n[ERROR] Aborting\n`)).toContain(words);
  });

  it("does not take a hint in another error for its cause", () => {
    const log =
      "[ERROR] [InnoDB] Write to file ./x failed, error number 5. Check that the disk is not full or a disk quota exceeded.";
    expect(findLogCause(log)).toContain("it says");
  });

  it("quotes the first error it does not know", () => {
    const log = "x [ERROR] [MY-1] [Server] Something new\nx [ERROR] Aborting";
    expect(findLogCause(log)).toBe("it says “Something new”");
    expect(findLogCause("")).toBe("it gives no reason");
  });
});
