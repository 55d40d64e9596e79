import { expect, it } from "vitest";
import { Permission } from "./permission.ts";
import {
  newServiceCredential,
  PERMISSION_NAMES,
  parseCredentialName,
  parsePermissions,
  parseValidityDays,
} from "./service-credential.ts";

it("parses every permission, without duplicates", () => {
  expect([...parsePermissions([...PERMISSION_NAMES, ...PERMISSION_NAMES])]).toEqual(
    PERMISSION_NAMES,
  );
});

it.each([[[]], [["activity.write"]], [[Permission.ActivityRead, ""]], [["ACTIVITY.READ"]]])(
  "refuses %j and names what it accepts",
  (names) => {
    expect(() => parsePermissions(names)).toThrow(PERMISSION_NAMES.join(", "));
  },
);

it.each(["gateway", "0", "import-2.csv_new", "a".repeat(64)])("accepts the name %s", (name) => {
  expect(parseCredentialName(name)).toBe(name);
});

const WRONG_NAMES = ["", "Gateway", "-x", "a b", "ü", "a\n", "a".repeat(65), "session"];
it.each([...WRONG_NAMES, newServiceCredential().secret])(
  "refuses the name %j with a sentence that does not repeat it",
  (name) => {
    expect(() => parseCredentialName(name)).toThrow(/^name accepts 1 to 64 characters: [ -~]*$/);
  },
);

it("accepts from one day to a year", () => {
  expect([1, 90, 365].map((days) => parseValidityDays(`${days}`))).toEqual([1, 90, 365]);
  for (const text of ["0", "366", "-1", "1.5", "1e2", "090", "", " 7", "x"]) {
    expect(() => parseValidityDays(text)).toThrow("days accepts a whole number from 1 to 365.");
  }
});
