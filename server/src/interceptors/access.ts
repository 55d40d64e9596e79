import {
  AccountService,
  ActivityService,
  AdmissionService,
  ApiKeyService,
  DeliveryService,
  DispatchService,
  DonationService,
  EndpointService,
  ImportService,
  MeService,
  PlatformEventService,
} from "@activity/proto";
import { Permission } from "../caller.ts";

/** Who may make a call: anybody, any client in its limit, a reader, or the holder of a permission. */
export const Access = {
  /** Anybody, uncounted: health checks and reflection. */
  Open: "open",
  /** Anybody, counted by client address. */
  Client: "client",
  /** The holder of an API key, or of the permission `activity.read`. */
  Reader: "reader",
} as const;
export type Access = (typeof Access)[keyof typeof Access] | Permission;

const ACCESS: Readonly<Record<string, Access>> = {
  "grpc.health.v1.Health": Access.Open,
  "grpc.reflection.v1.ServerReflection": Access.Open,
  "grpc.reflection.v1alpha.ServerReflection": Access.Open,
  [`${AdmissionService.typeName}/${AdmissionService.method.admitClient.name}`]: Access.Client,
  [AdmissionService.typeName]: Access.Reader,
  [ActivityService.typeName]: Access.Reader,
  [MeService.typeName]: Access.Reader,
  [DonationService.typeName]: Permission.DonationWrite,
  [ImportService.typeName]: Permission.DonationImport,
  [PlatformEventService.typeName]: Permission.PlatformEventWrite,
  [AccountService.typeName]: Permission.AccountManage,
  [ApiKeyService.typeName]: Permission.ApiKeyManage,
  [EndpointService.typeName]: Permission.EndpointManage,
  [DeliveryService.typeName]: Permission.EndpointManage,
  [DispatchService.typeName]: Permission.DeliveryDispatch,
};

/** Returns who may call a method. A service that the table lacks is a bug, and is open to nobody. */
export function accessOf(service: string, method: string): Access {
  const access = ACCESS[`${service}/${method}`] ?? ACCESS[service];
  if (access === undefined) throw new Error(`interceptors/access.ts says nothing of ${service}`);
  return access;
}
