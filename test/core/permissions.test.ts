import {
  AccountService,
  ActivityService,
  AdmissionService,
  ApiKeyService,
  DeliveryService,
  DispatchService,
  DonationService,
  EndpointService,
  ErrorInfoSchema,
  FeedChangeService,
  ImportService,
  MeService,
  NoticeService,
  PlatformEventService,
  SessionService,
} from "@activity/proto";
import { Permission } from "@activity/server";
import type { DescMethod } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { createReader } from "../harness/builders.ts";
import { failureOf } from "../harness/methods.ts";
import { useTestStack } from "../harness/stack.ts";

const { getAccount } = AccountService.method;
/** Its others take an empty request. */
const { claimAttempts, loadAttempt } = DispatchService.method;
const NEEDS: readonly (readonly [string, Permission, readonly DescMethod[]])[] = [
  ["ActivityService", Permission.ActivityRead, ActivityService.methods],
  ["MeService", Permission.ActivityRead, MeService.methods],
  ["DonationService", Permission.DonationWrite, DonationService.methods],
  ["ImportService", Permission.DonationImport, ImportService.methods],
  ["PlatformEventService", Permission.PlatformEventWrite, PlatformEventService.methods],
  ["GetAccount", Permission.AccountRead, [getAccount]],
  [
    "AccountService but GetAccount",
    Permission.AccountManage,
    AccountService.methods.filter((method) => method !== getAccount),
  ],
  ["ApiKeyService", Permission.ApiKeyManage, ApiKeyService.methods],
  ["EndpointService", Permission.EndpointManage, EndpointService.methods],
  ["DeliveryService", Permission.EndpointManage, DeliveryService.methods],
  ["ListNotices", Permission.NoticeRead, [NoticeService.method.listNotices]],
  ["DispatchService", Permission.DeliveryDispatch, [claimAttempts, loadAttempt]],
  ["CreateSessionLink", Permission.SessionCreate, [SessionService.method.createSessionLink]],
];

const stack = useTestStack();

/** Calls methods with an empty request and returns how each failed. */
const failuresOf = (methods: readonly DescMethod[], authorization?: string) =>
  Promise.all(
    methods.map(async (method) => {
      const headers = authorization === undefined ? {} : { authorization };
      const failure = await failureOf(stack.client, method, [{}], headers);
      if (failure === undefined) throw new Error(`${method.name} let the call in`);
      return failure;
    }),
  );

const codesOf = (failures: ConnectError[]) =>
  failures.map((failure) => [failure.code, failure.findDetails(ErrorInfoSchema)[0]?.code]);

describe.each(NEEDS)("every call of %s", (_name, permission, methods) => {
  it("is refused with PERMISSION_DENIED to a credential that has every permission but its own", async () => {
    const others = Object.values(Permission).filter((other) => other !== permission);
    const failures = await failuresOf(methods, `Bearer ${await stack.credential(...others)}`);
    for (const code of codesOf(failures)) {
      expect(code).toEqual([Code.PermissionDenied, "permission_denied"]);
    }
    expect(failures.every((failure) => failure.message.includes(permission))).toBe(true);
  });

  it("is let in with that permission alone, and then fails for its empty request only", async () => {
    const own = await stack.credential(permission);
    for (const failure of await failuresOf(methods, `Bearer ${own}`)) {
      expect([Code.InvalidArgument, Code.NotFound]).toContain(failure.code);
    }
  });
});

const INTERNAL = NEEDS.filter(([, permission]) => permission !== Permission.ActivityRead);

describe.each(INTERNAL)("every call of %s, which is internal,", (_name, _permission, methods) => {
  it("is refused without a credential, with an unknown one, and with an account's API key", async () => {
    const { apiKey } = await createReader(stack);
    const unknown = `act_svc_${"0".repeat(64)}`;
    for (const authorization of [undefined, `Bearer ${unknown}`, `Bearer ${apiKey}`]) {
      for (const code of codesOf(await failuresOf(methods, authorization))) {
        expect(code).toEqual([Code.Unauthenticated, "invalid_service_credential"]);
      }
    }
  });
});

describe("a client's address", () => {
  const admit = (headers: Record<string, string>) =>
    stack.client(AdmissionService, headers).admitClient({});

  /** Resolves with the first message. */
  const watch = async (headers: Record<string, string>) => {
    for await (const first of stack.client(FeedChangeService, headers).watchFeeds({})) return first;
    throw new Error("the stream was empty");
  };

  it("is taken from a gateway's credential and from nobody else", async () => {
    const address = "198.51.100.77";
    const mayForward = await stack.credential(Permission.ClientAddressForward);
    const forwarded = (credential: string) => ({
      "x-client-address": address,
      "x-service-credential": credential,
    });
    for (let count = 0; count < 300; count++) await admit(forwarded(mayForward));
    await expect(admit(forwarded(mayForward))).rejects.toMatchObject({
      code: Code.ResourceExhausted,
    });
    await admit({});
    expect(await watch({ "x-service-credential": mayForward })).toBeDefined();
  });

  it("fails the call when it is forwarded by anybody else, and only gateways watch feeds", async () => {
    const address = { "x-client-address": "198.51.100.78" };
    const mayNot = await stack.credential(Permission.ActivityRead);
    const { accountId } = await createReader(stack);
    const ofOne = await stack.credentialOf(accountId, Permission.ClientAddressForward);
    for (const [headers, code, info] of [
      [address, Code.Unauthenticated, "invalid_service_credential"],
      [
        { ...address, "x-service-credential": `act_svc_${"0".repeat(64)}` },
        Code.Unauthenticated,
        "invalid_service_credential",
      ],
      [{ ...address, "x-service-credential": mayNot }, Code.PermissionDenied, "permission_denied"],
      [{ ...address, "x-service-credential": ofOne }, Code.PermissionDenied, "permission_denied"],
    ] as const) {
      for (const call of [admit, watch]) {
        const failure = await call(headers).catch(ConnectError.from);
        expect(codesOf([failure as ConnectError])).toEqual([[code, info]]);
      }
    }
  });
});
