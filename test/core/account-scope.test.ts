import * as proto from "@activity/proto";
import { Permission } from "@activity/server";
import type { DescMessage, DescMethod } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { beforeAll, describe, expect, it } from "vitest";
import { createAccount } from "../harness/builders.ts";
import { failureOf, METHODS, nameOf } from "../harness/methods.ts";
import { useTestStack } from "../harness/stack.ts";

/**
 * Which calls a credential of one account may make, decided for every method of every service (ADR 0033):
 * those that name the account, in `account_id`. A new method fails here until it stands in one of them.
 */
const OF_ONE_ACCOUNT = `
  ActivityService: ListActivities WaitForActivity
  MeService: GetMe
  DonationService: CreateDonation PayDonation RefundDonation OpenDispute ResolveDispute DeleteDonation
    RecordContribution
  ImportService: ImportDonations
  PlatformEventService: RecordPlatformEvent DeletePlatformEvent
  AccountService: GetAccount VerifyAccount BlockAccount UnblockAccount DeleteAccount
  ApiKeyService: CreateApiKey RenewApiKey RevokeApiKey ListApiKeys
  EndpointService: CreateEndpoint GetEndpoint ListEndpoints GetEndpointStats UpdateEndpoint SwitchOnEndpoint
    SwitchOffEndpoint DeleteEndpoint RotateSecret CancelRotation SendTest
  DeliveryService: ListDeliveries GetDelivery RetryDelivery CountRetriableDeliveries RetryFailedDeliveries
  NoticeService: ListNotices
  SessionService: CreateSessionLink`;
const OF_ALL_ACCOUNTS = `
  AdmissionService: AdmitApiKey
  AccountService: PutAccount
  DispatchService: GetInstallation ClaimAttempts ClaimRetries CompleteRetries LoadAttempt
    RescheduleAttempt RecordAttempts`;
/** Of the account of a session, and so of browsers: `test/dashboard/attacks.test.ts`. */
const OF_SESSIONS = `
  SessionService: ExchangeCode GetSession SignOut SignOutEverywhere
  NoticeService: ListOpenNotices DismissNotice`;
/** They take a gateway's credential, in a header of its own: `permissions.test.ts`. */
const OF_ANYBODY = `
  AdmissionService: AdmitClient
  FeedChangeService: WatchFeeds`;

/** The names in one of the lists above, `Service/Method`. */
function listed(text: string): string[] {
  return text
    .trim()
    .split(/\n {2}(?=\w)/)
    .flatMap((line) => {
      const [service, ...names] = line.trim().split(/:?\s+/);
      return names.map((name) => `${service}/${name}`);
    });
}
const inList = (text: string) => METHODS.filter((method) => listed(text).includes(nameOf(method)));

/** The paths of the fields in a message, at any depth, that name an account in whatever way. */
function accountFields(message: DescMessage): string[] {
  return message.fields.flatMap((field) => {
    if (/account|username/.test(field.name)) return [field.name];
    const inner = field.message && accountFields(field.message);
    return inner?.map((path) => `${field.name}.${path}`) ?? [];
  });
}

const stack = useTestStack();
let own: string;
let other: string;
beforeAll(async () => {
  [own, other] = [await createAccount(stack), await createAccount(stack)];
});

type Fields = Record<string, unknown>;

/** Calls a method with a credential of one account that has every permission; returns how it failed. */
async function failureAs(method: DescMethod, messages: readonly Fields[], accountId = own) {
  const credential = await stack.credentialOf(accountId, ...Object.values(Permission));
  return failureOf(stack.client, method, messages, { authorization: `Bearer ${credential}` });
}

/** A message that names an account where a call of one account does. */
function naming(method: DescMethod, accountId: string): Fields {
  if (method.methodKind === "unary") return { accountId };
  return { step: { case: "opening", value: { accountId } } };
}

const DENIED = { code: Code.PermissionDenied, rawMessage: expect.stringContaining("only") };

it("every method is of one account, of all, of a session's, or of anybody", () => {
  const decided = [OF_ONE_ACCOUNT, OF_ALL_ACCOUNTS, OF_SESSIONS, OF_ANYBODY].flatMap(listed);
  expect(decided.toSorted()).toEqual(METHODS.map(nameOf).toSorted());
});

it("a call of one account names it in account_id and, but for GetAccount, in no other way", () => {
  for (const method of inList(OF_ONE_ACCOUNT)) {
    const isUnary = method.methodKind === "unary";
    const more = method === proto.AccountService.method.getAccount ? ["username"] : [];
    const expected = [isUnary ? "account_id" : "opening.account_id", ...more];
    expect(accountFields(method.input), nameOf(method)).toEqual(expected);
  }
});

describe.each(inList(OF_ONE_ACCOUNT).map((method) => [nameOf(method), method] as const))(
  "%s with a credential of one account",
  (_name, method) => {
    it("is refused when it names another account or none", async () => {
      expect(await failureAs(method, [naming(method, other)])).toMatchObject(DENIED);
      expect(await failureAs(method, [naming(method, "")])).toMatchObject(DENIED);
      expect(await failureAs(method, [{}])).toMatchObject(DENIED);
    });

    it("is let in when it names its account", async () => {
      const account = await createAccount(stack);
      const failure = await failureAs(method, [naming(method, account)], account);
      expect(failure?.code).not.toBe(Code.PermissionDenied);
    });
  },
);

it.each(inList(OF_ALL_ACCOUNTS).map((method) => [nameOf(method), method] as const))(
  "%s is refused to a credential of one account, and says what it needs",
  async (_name, method) => {
    const failure = await failureAs(method, [{}]);
    expect(failure).toMatchObject(DENIED);
    expect(failure?.rawMessage).toBe(
      `The service credential is for the account ${own} only: this call does not name it in account_id, so it needs one for all accounts.`,
    );
  },
);

it("an import of one account cannot go over to another", async () => {
  const method = proto.ImportService.method.importDonations;
  const platform = proto.Platform.CSV;
  const opening = (accountId: string) => ({
    step: { case: "opening", value: { accountId, platform } },
  });
  const rows = { step: { case: "rows", value: { rows: [{}] } } };
  expect(await failureAs(method, [opening(own), rows])).toBeUndefined();
  expect(await failureAs(method, [opening(own), opening(other)])).toMatchObject(DENIED);
  expect(await failureAs(method, [rows, opening(own)])).toMatchObject(DENIED);
});

it("an account cannot be found by another's name beside its own id", async () => {
  const { account } = await stack.client(proto.AccountService).getAccount({ accountId: other });
  const username = account?.username;
  const { getAccount } = proto.AccountService.method;
  expect(await failureAs(getAccount, [{ username }])).toMatchObject(DENIED);
  expect(await failureAs(getAccount, [{ accountId: own, username }])).toMatchObject({
    code: Code.InvalidArgument,
  });
});
