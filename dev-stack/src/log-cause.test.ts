import { expect, it } from "vitest";
import { findLogCause } from "./log-cause.ts";

const UNRELATED =
  "[InnoDB] Write to file ./x failed, error number 5. Check that the disk is not full or a disk quota exceeded.";

it.each([
  ["InnoDB: preallocating 12582912 bytes for file ./ibdata1 failed with error 28", "full"],
  ["[MY-012640] [InnoDB] Error number 28 means 'No space left on device'", "full"],
  ["mariadbd: Can't create/write to file 'x' (Errcode: 28 \"No space left on device\")", "full"],
  ["Can't start server: Bind on TCP/IP port. Got error: 98: Address already in use", "is taken"],
  ["InnoDB: Unable to lock ./ibdata1 error: 11", "another database server"],
  ["[MY-013171] [InnoDB] Cannot boot server version 90700 on data of 90800", "another version"],
  ["InnoDB: Unsupported redo log format. It was created by x", "another version"],
  ["[MY-000067] [Server] unknown variable 'wrong=1'.", "the option wrong=1;"],
  ["mysqld: error while loading shared libraries: libaio.so.1: cannot open", "library libaio.so.1"],
  ["mysqld: File './x' not found (OS errno 13 - Permission denied)", "owner and rights"],
  ["InnoDB: Database page corruption on disk", "damaged"],
  [UNRELATED, "it says “Write to file"],
  ["[MY-1] [Server] Something new", "it says “Something new”"],
])("explains %s", (line, words) => {
  expect(findLogCause(`some note\n[ERROR] ${line}\n[ERROR] Aborting\n`)).toContain(words);
});
