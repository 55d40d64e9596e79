import { once } from "node:events";
import http2 from "node:http2";
import * as proto from "@activity/proto";
import {
  administerServiceCredentials,
  createServerApp,
  Permission,
  readConfig,
} from "@activity/server";
import type { DescMessage, DescMethod, MessageInitShape } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { inParallel } from "../harness/attack.ts";
import { createAccount, createReader, unique } from "../harness/builders.ts";
import { sendHead } from "../harness/http.ts";
import { failureOf, METHODS, nameOf } from "../harness/methods.ts";
import { QUIET } from "../harness/quiet.ts";
import { useTestStack } from "../harness/stack.ts";
import { LISTED, OF_ALL_ACCOUNTS, OF_ONE_ACCOUNT } from "./harness-calls.ts";

const ALL_PERMISSIONS = Object.values(Permission);
const eachMethod = (calls: typeof OF_ONE_ACCOUNT) =>
  calls.flatMap(({ methods }) => methods.map((method) => [nameOf(method), method] as const));
const UNKNOWN = `act_svc_${"0".repeat(64)}`;

const stack = useTestStack();
let own: string;
let other: string;
beforeAll(async () => {
  [own, other] = [await createAccount(stack), await createAccount(stack)];
});

type Fields = Record<string, unknown>;

/** Calls a method with a credential, or with none. Returns its failure. */
const failureAs = (shown: string | undefined, method: DescMethod, ...messages: Fields[]) =>
  failureOf(stack.client, method, messages, shown ? { authorization: `Bearer ${shown}` } : {});
const codeOf = (failure: ConnectError | undefined) => [
  failure?.code,
  failure?.findDetails(proto.ErrorInfoSchema)[0]?.code,
];
const PERMISSION_DENIED = [Code.PermissionDenied, "permission_denied"];
const UNAUTHENTICATED = [Code.Unauthenticated, "invalid_service_credential"];
/** Codes of a call that its credential permits. The request lacks fields, so a rule may refuse it. */
const ACCEPTED = [undefined, Code.InvalidArgument, Code.NotFound];

it("every method is a call of one account, of all accounts, of a session or of anybody", () => {
  expect(LISTED.toSorted()).toEqual(METHODS.map(nameOf).toSorted());
});

const NEEDING = [...OF_ONE_ACCOUNT, ...OF_ALL_ACCOUNTS].filter(
  ({ permission }) => permission !== "-",
);

describe.each(NEEDING)("the calls of $service that need $permission", ({ permission, methods }) => {
  it("are refused with PERMISSION_DENIED to a credential that has every other permission", async () => {
    const others = ALL_PERMISSIONS.filter((each) => each !== permission);
    const credential = await stack.credential(...others);
    for (const method of methods) {
      const failure = await failureAs(credential, method, {});
      expect(codeOf(failure)).toEqual(PERMISSION_DENIED);
      expect(failure?.message).toContain(permission);
    }
  });

  it("are accepted with that permission alone, and fail only for their empty request", async () => {
    const credential = await stack.credential(permission as Permission);
    for (const method of methods) {
      const failure = await failureAs(credential, method, {});
      expect(ACCEPTED).toContain(failure?.code);
    }
  });
});

const INTERNAL = NEEDING.filter(({ permission }) => permission !== Permission.ActivityRead);

describe.each(INTERNAL)("the internal calls of $service that need $permission", ({ methods }) => {
  it("are refused without a credential, with an unknown one, and with an API key", async () => {
    const { apiKey } = await createReader(stack);
    for (const method of methods) {
      for (const shown of [undefined, UNKNOWN, apiKey]) {
        expect(codeOf(await failureAs(shown, method, {}))).toEqual(UNAUTHENTICATED);
      }
    }
  });
});

/** Lists the paths of the fields, at any depth, that name an account. */
function accountFields(message: DescMessage): string[] {
  return message.fields.flatMap((field) => {
    if (/account|username/.test(field.name)) return [field.name];
    const inner = field.message && accountFields(field.message);
    return inner?.map((path) => `${field.name}.${path}`) ?? [];
  });
}

/** Returns a message that names an account. An import names it in its opening. */
function naming(method: DescMethod, accountId: string): Fields {
  if (method.methodKind === "unary") return { accountId };
  return { step: { case: "opening", value: { accountId } } };
}

const holderOf = (accountId: string) => stack.credentialOf(accountId, ...ALL_PERMISSIONS);
const DENIED = { code: Code.PermissionDenied, rawMessage: expect.stringContaining("only") };

describe.each(eachMethod(OF_ONE_ACCOUNT))("%s with a credential of one account", (name, method) => {
  it("has one field for the account, except GetAccount, which also takes a username", () => {
    const path = method.methodKind === "unary" ? "account_id" : "opening.account_id";
    const more = name === "AccountService/GetAccount" ? ["username"] : [];
    expect(accountFields(method.input)).toEqual([path, ...more]);
  });

  it("is refused when it names another account or none", async () => {
    const credential = await holderOf(own);
    for (const message of [naming(method, other), naming(method, ""), {}]) {
      expect(await failureAs(credential, method, message)).toMatchObject(DENIED);
    }
  });

  it("is accepted when it names its account", async () => {
    const account = await createAccount(stack);
    const failure = await failureAs(await holderOf(account), method, naming(method, account));
    expect(ACCEPTED).toContain(failure?.code);
  });
});

it.each(eachMethod(OF_ALL_ACCOUNTS))(
  "%s is refused to a credential of one account, and says what it needs",
  async (_name, method) => {
    const failure = await failureAs(await holderOf(own), method, {});
    expect(failure).toMatchObject(DENIED);
    expect(failure?.rawMessage).toBe(
      `The service credential is for the account ${own} only: this call does not name it in account_id, so it needs one for all accounts.`,
    );
  },
);

it("an import cannot change from one account to another", async () => {
  const method = proto.ImportService.method.importDonations;
  const platform = proto.Platform.CSV;
  const opening = (accountId: string) => ({
    step: { case: "opening", value: { accountId, platform } },
  });
  const rows = { step: { case: "rows", value: { rows: [{}] } } };
  const credential = await holderOf(own);
  expect(await failureAs(credential, method, opening(own), rows)).toBeUndefined();
  expect(await failureAs(credential, method, opening(own), opening(other))).toMatchObject(DENIED);
  expect(await failureAs(credential, method, rows, opening(own))).toMatchObject(DENIED);
});

it("GetAccount with a credential of one account finds no other by its username", async () => {
  const { account } = await stack.client(proto.AccountService).getAccount({ accountId: other });
  const username = account?.username;
  const { getAccount } = proto.AccountService.method;
  const credential = await holderOf(own);
  expect(await failureAs(credential, getAccount, { username })).toMatchObject(DENIED);
  const both = await failureAs(credential, getAccount, { accountId: own, username });
  expect(both).toMatchObject({ code: Code.InvalidArgument });
});

describe("a client's address", () => {
  const admit = (headers: Record<string, string>) =>
    stack.client(proto.AdmissionService, headers).admitClient({});
  const forwarding = (address: string, credential: string) => ({
    "x-client-address": address,
    "x-service-credential": credential,
  });

  /** Resolves with the first message of the stream. */
  const watch = async (headers: Record<string, string>) => {
    const watching = stack.client(proto.FeedChangeService, headers).watchFeeds({});
    for await (const first of watching) return first;
    return expect.unreachable("the stream was empty");
  };

  it("is accepted with a gateway's credential", async () => {
    const mayForward = await stack.credential(Permission.ClientAddressForward);
    const forwarded = forwarding("198.51.100.77", mayForward);
    for (let count = 0; count < 300; count++) await admit(forwarded);
    const refusal = ConnectError.from(await admit(forwarded).catch((error) => error));
    expect(refusal.code).toBe(Code.ResourceExhausted);
    // ADR 0030: the gateway repeats the refusal for `clientRefusedFor`. The core refuses from memory, without a window.
    const [info] = refusal.findDetails(proto.ErrorInfoSchema);
    expect(Number(info?.clientRefusedFor?.seconds)).toBeGreaterThan(0);
    expect(Number(info?.clientRefusedFor?.seconds)).toBeLessThanOrEqual(60);
    await stack.database.query("DELETE FROM rate_window");
    await expect(admit(forwarded)).rejects.toMatchObject({ code: Code.ResourceExhausted });
    await admit({});
    expect(await watch({ "x-service-credential": mayForward })).toBeDefined();
  });

  it("ADR 0030: shares a limit of 3,000 requests with its IPv6 /48", async () => {
    const [DATABASE_URL, key] = [stack.database.url, "0".repeat(64)];
    const config = readConfig({ DATABASE_URL, CURSOR_KEYS: key, SECRET_KEYS: key });
    const app = createServerApp(config, QUIET);
    onTestFinished(app.close);
    // Calls the core within this process, because 3,000 calls over a connection take seconds.
    const { admitClient } = createClient(proto.AdmissionService, app.localTransport);
    const admitAt = (place: number) =>
      admitClient({}, { headers: { "x-client-address": `2001:db8:1:${place}::1` } });
    // Calls in rounds, so that no call waits for long in the queue.
    for (let round = 0; round < 12; round++) await inParallel(250, admitAt);
    await expect(admitAt(0)).rejects.toMatchObject({ code: Code.ResourceExhausted });
  });

  it("is refused from any other caller, and so is watching feeds", async () => {
    const address = "198.51.100.78";
    const mayNot = await stack.credential(Permission.ActivityRead);
    const ofOne = await stack.credentialOf(own, Permission.ClientAddressForward);
    for (const [headers, expected] of [
      [{ "x-client-address": address }, UNAUTHENTICATED],
      [forwarding(address, UNKNOWN), UNAUTHENTICATED],
      [forwarding(address, mayNot), PERMISSION_DENIED],
      [forwarding(address, ofOne), PERMISSION_DENIED],
    ] as const) {
      for (const call of [admit, watch]) {
        const failure = await call(headers).catch((error: ConnectError) => error);
        expect(codeOf(failure as ConnectError)).toEqual(expected);
      }
    }
  });
});

/** Sends the heads of two calls: one in gRPC over HTTP/2, the other in Connect over HTTP/1.1. */
async function holdBodies(credential: string) {
  const path = "/activity.account.v1.AccountService/GetAccount";
  const headers = { authorization: `Bearer ${credential}` };
  const connect = { ...headers, "content-type": "application/json" };
  const request = await sendHead(stack.corePort, path, connect);
  const session = http2.connect(`http://127.0.0.1:${stack.corePort}`);
  const call = { ":method": "POST", ":path": path, expect: "100-continue" };
  const grpc = { ...headers, "content-type": "application/grpc" };
  const stream = session.request({ ...call, ...grpc });
  await once(stream, "continue");
  const answers = [once(request, "response"), once(stream.resume(), "trailers")] as const;
  return {
    answers,
    /** Sends an empty message in each call. Returns the HTTP/1.1 status and the gRPC status. */
    async send() {
      request.end("{}");
      stream.end(Buffer.alloc(5));
      const [[response], [trailers]] = await Promise.all(answers);
      session.destroy();
      return [response.resume().statusCode, trailers["grpc-status"]];
    },
  };
}

it("imports, watches and calls whose body is late end once their credential is revoked. ADR 0033", async () => {
  const administration = administerServiceCredentials(stack.database.url);
  const name = unique("test");
  const { AccountRead, ClientAddressForward, DonationImport } = Permission;
  const permissions = new Set([AccountRead, ClientAddressForward, DonationImport]);
  const credential = await administration.create({ name, permissions, accountId: undefined }, 1);
  const watchEnd = Promise.withResolvers<void>();
  async function* steps() {
    const opening = { accountId: own, platform: proto.Platform.CSV };
    const rows = (row: MessageInitShape<typeof proto.ImportRowSchema>) => ({
      step: { case: "rows" as const, value: { rows: [row] } },
    });
    yield { step: { case: "opening" as const, value: opening } };
    yield rows({});
    await watchEnd.promise;
    yield rows({ externalId: "late", currency: "eur", donatedAt: timestampNow() });
  }
  const importer = stack.client(proto.ImportService, { authorization: `Bearer ${credential}` });
  const answers = importer.importDonations(steps())[Symbol.asyncIterator]();
  const gateway = stack.client(proto.FeedChangeService, { "x-service-credential": credential });
  // A watch that does not end fails the test after three times the life of a cached credential.
  const watch = gateway.watchFeeds({}, { timeoutMs: 15_000 })[Symbol.asyncIterator]();
  expect((await answers.next()).value).toMatchObject({ received: 1n });
  expect((await watch.next()).done).toBe(false);
  const held = await holdBodies(credential);
  await administration.revoke(name);
  await administration.close();
  const endOf = async (stream: AsyncIterator<unknown>) => {
    while (!(await stream.next()).done);
  };
  const failures: unknown[] = [await endOf(watch).catch(ConnectError.from)];
  // The core has refused neither of the calls that wait for their bodies.
  expect(await Promise.race([...held.answers, "no answer"])).toBe("no answer");
  expect(await held.send()).toEqual([401, `${Code.Unauthenticated}`]);
  watchEnd.resolve();
  failures.push(await endOf(answers).catch(ConnectError.from));
  expect(failures.map((failure) => codeOf(failure as ConnectError))).toEqual([
    UNAUTHENTICATED,
    UNAUTHENTICATED,
  ]);
  const feed = "SELECT 1 FROM activity JOIN account USING (account_no) WHERE id = ?";
  expect(await stack.database.query(feed, [own])).toEqual([]);
});
