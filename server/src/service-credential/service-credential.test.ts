import { expect, it } from "vitest";
import { Permission } from "../caller.ts";
import {
  hashServiceCredential,
  isServiceCredentialText,
  newServiceCredential,
  PERMISSION_NAMES,
  parsePermissions,
} from "./service-credential.ts";

it("makes credentials that cannot be taken for API keys", () => {
  const { secret, hash } = newServiceCredential();
  expect(secret).toMatch(/^act_svc_[0-9a-f]{64}$/);
  expect(isServiceCredentialText(secret)).toBe(true);
  expect(isServiceCredentialText(secret.replace("_svc_", "_live_"))).toBe(false);
  expect(hashServiceCredential(secret)).toEqual(hash);
});

it("parses every permission, and each once", () => {
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
