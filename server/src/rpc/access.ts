import type { DescMethod } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { Permission } from "../service-credential/permission.ts";

/** Who may make a call: one of these, or a service credential with the permission. */
export const Access = {
  /** Any caller, uncounted: health checks and reflection. */
  Open: "open",
  /** Any caller, counted by client address. */
  Client: "client",
  /** The holder of an API key, or of the permission `activity.read`. */
  Reader: "reader",
  /** Any browser at the browsers' port, counted by client address. */
  Browser: "browser",
  /** Any session of the dashboard, at the browsers' port. */
  Session: "session",
} as const;
export type Access = (typeof Access)[keyof typeof Access] | Permission;

const ADMINISTRATION: ReadonlySet<Access> = new Set([
  Permission.AccountManage,
  Permission.ApiKeyManage,
  Permission.EndpointManage,
  Permission.SessionCreate,
  Access.Browser,
  Access.Session,
]);

/** Whether a call needs no credential, API key or session. It may still be counted. */
export function isOpenToAnybody(access: Access): boolean {
  return access === Access.Open || access === Access.Client || access === Access.Browser;
}

/** Whether a call is administrative: its access is in `ADMINISTRATION`, and its proto lets it change something. */
export function isAdministrative(access: Access, method: DescMethod): boolean {
  return changesSomething(method) && ADMINISTRATION.has(access);
}

export function changesSomething({ idempotency }: DescMethod): boolean {
  return idempotency !== MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;
}
