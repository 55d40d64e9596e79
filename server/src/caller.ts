import { createContextKey } from "@connectrpc/connect";
import type { ApiKeyRecord } from "./admission/admission.ts";

/** What a service credential may allow its holder. */
export const Permission = {
  ActivityRead: "activity.read",
  ClientAddressForward: "client_address.forward",
  DonationWrite: "donation.write",
  DonationImport: "donation.import",
  PlatformEventWrite: "platform_event.write",
  AccountManage: "account.manage",
  ApiKeyManage: "api_key.manage",
  EndpointManage: "endpoint.manage",
  DeliveryDispatch: "delivery.dispatch",
} as const;
export type Permission = (typeof Permission)[keyof typeof Permission];

/** Who makes a call: the holder of an account's API key, or an internal service. */
export type Caller =
  | { readonly kind: "api_key"; readonly apiKey: ApiKeyRecord }
  | { readonly kind: "service"; readonly name: string };

/** The caller of a call, set by the authenticate interceptor before any service runs. */
export const callerKey = createContextKey<Caller | undefined>(undefined, {
  description: "caller",
});

/** The address of the socket a call came in on; absent for calls from inside the process. */
export const peerAddressKey = createContextKey<string | undefined>(undefined, {
  description: "peer address",
});

/** Whether the call comes from a gateway in this very process, whose word on the client's address counts. */
export const inProcessKey = createContextKey<boolean>(false, { description: "in process" });
