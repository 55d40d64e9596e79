import type { DescMethod } from "@bufbuild/protobuf";
import { METHODS, nameOf } from "../harness/methods.ts";

/** Calls of a service that need one permission. `-` stands for calls that need no permission. */
export type Calls = {
  readonly service: string;
  readonly permission: string;
  readonly methods: readonly DescMethod[];
};

/**
 * All calls, by who may make them (ADR 0033). Calls of one account name it in `account_id`. Calls of a session come
 * from a browser (`test/dashboard/attacks.test.ts`). Calls of anybody carry a gateway's credential in its own header.
 * A star marks the calls of the audit log: they change an account, a key, an endpoint or a secret, let an owner in,
 * send a test, or retry deliveries. A method that is missing here fails a test.
 */
const TEXTS = {
  ofOneAccount: `
    activity.read ActivityService: ListActivities WaitForActivity
    activity.read MeService: GetMe
    donation.write DonationService: CreateDonation PayDonation RefundDonation OpenDispute ResolveDispute
      DeleteDonation RecordContribution
    donation.import ImportService: ImportDonations
    platform_event.write PlatformEventService: RecordPlatformEvent DeletePlatformEvent
    account.read AccountService: GetAccount
    account.manage AccountService: VerifyAccount* BlockAccount* UnblockAccount* DeleteAccount*
    api_key.manage ApiKeyService: CreateApiKey* RenewApiKey* RevokeApiKey* ListApiKeys
    endpoint.manage EndpointService: CreateEndpoint* GetEndpoint ListEndpoints GetEndpointStats UpdateEndpoint*
      SwitchOnEndpoint* SwitchOffEndpoint* DeleteEndpoint* RotateSecret* CancelRotation* SendTest*
    endpoint.manage DeliveryService: ListDeliveries GetDelivery CountRetriableDeliveries RetryDelivery* RetryFailedDeliveries*
    notice.read NoticeService: ListNotices
    session.create SessionService: CreateSessionLink*`,
  ofAllAccounts: `
    - AdmissionService: AdmitApiKey
    account.manage AccountService: PutAccount*
    delivery.dispatch DispatchService: GetInstallation ClaimAttempts ClaimRetries CompleteRetries LoadAttempt
      RescheduleAttempt RecordAttempts`,
  ofSessions: `
    - SessionService: ExchangeCode GetSession SignOut SignOutEverywhere
    - NoticeService: ListOpenNotices DismissNotice`,
  ofAnybody: `
    - AdmissionService: AdmitClient
    - FeedChangeService: WatchFeeds`,
};

const NAMES = Object.values(TEXTS).flatMap((text) =>
  linesOf(text).flatMap(([, service, ...names]) => names.map((name) => `${service}/${name}`)),
);
/** The names of the audited calls, as `Service/Method`. */
export const AUDITED = NAMES.filter((name) => name.endsWith("*")).map((name) => name.slice(0, -1));
/** The names of all listed calls. */
export const LISTED = NAMES.map((name) => name.replace("*", ""));

export const OF_ONE_ACCOUNT = callsIn(TEXTS.ofOneAccount);
export const OF_ALL_ACCOUNTS = callsIn(TEXTS.ofAllAccounts);

function linesOf(text: string): [permission: string, service: string, ...names: string[]][] {
  return text
    .trim()
    .split(/\n {4}(?! )/)
    .map((line) => line.trim().split(/:?\s+/) as [string, string, ...string[]]);
}

function callsIn(text: string): Calls[] {
  return linesOf(text).map(([permission, service, ...names]) => {
    const own = names.map((name) => `${service}/${name.replace("*", "")}`);
    return { service, permission, methods: METHODS.filter((each) => own.includes(nameOf(each))) };
  });
}
