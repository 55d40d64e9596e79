export const Permission = {
  ActivityRead: "activity.read",
  ClientAddressForward: "client_address.forward",
  DonationWrite: "donation.write",
  DonationImport: "donation.import",
  PlatformEventWrite: "platform_event.write",
  AccountRead: "account.read",
  AccountManage: "account.manage",
  ApiKeyManage: "api_key.manage",
  EndpointManage: "endpoint.manage",
  SessionCreate: "session.create",
  DeliveryDispatch: "delivery.dispatch",
  NoticeRead: "notice.read",
} as const;
export type Permission = (typeof Permission)[keyof typeof Permission];
