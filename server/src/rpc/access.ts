import type { DescMethod } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { Permission } from "../service-credential/permission.ts";

/** Who may make a call: anybody, any client or browser in its limit, a reader, a session, or the holder of a permission. */
export const Access = {
  /** Anybody, uncounted: health checks and reflection. */
  Open: "open",
  /** Anybody, counted by client address. */
  Client: "client",
  /** The holder of an API key, or of the permission `activity.read`. */
  Reader: "reader",
  /** Any browser at the browsers' port, counted by client address. */
  Browser: "browser",
  /** Every session of the dashboard, at the browsers' port. */
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

/** Whether a call may be made without a credential, an API key or a session; it may be counted all the same. */
export function isOpenToAnybody(access: Access): boolean {
  return access === Access.Open || access === Access.Client || access === Access.Browser;
}

/**
 * Whether a call is administrative: it needs a permission to manage, or begins or ends sessions, and its proto lets it
 * change something.
 */
export function isAdministrative(access: Access, method: DescMethod): boolean {
  return changesSomething(method) && ADMINISTRATION.has(access);
}

/** Whether a call's proto lets it change something. */
export function changesSomething({ idempotency }: DescMethod): boolean {
  return idempotency !== MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;
}
