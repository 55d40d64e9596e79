import { once } from "node:events";
import { readFileSync } from "node:fs";
import {
  constants,
  createSecureServer,
  createServer,
  type Http2SecureServer,
  type Http2Server,
} from "node:http2";
import { type AddressInfo, createServer as createTcpServer, connect as openTcp } from "node:net";
import { join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { afterAll, beforeAll, expect, it } from "vitest";
import { certify } from "../../test/harness/certify.ts";
import { useFolder } from "../../test/harness/use-started.ts";
import { connectToCore, failureOf } from "./client-transport.ts";
import { CoreSessions } from "./core-sessions.ts";
import { AccountService } from "./gen/activity/account/v1/account_service_pb.ts";
import { DonationService } from "./gen/activity/ingest/v1/donation_service_pb.ts";
import { ActivityService } from "./gen/activity/read/v1/activity_service_pb.ts";

/** The longest time that WaitForActivity waits for a change. ADR 0052 */
const LONGEST_WAIT_MS = 10_000;

const certificates = useFolder("client-tls");
const readPem = (name: string) => readFileSync(join(certificates, name), "utf8");
let url: string;
const closers: (() => void)[] = [];

/** A core that answers with the call's limit in milliseconds as `feedVersion`. */
const core = connectNodeAdapter({
  readMaxBytes: 1_000,
  routes: ({ service }) => {
    service(ActivityService, {
      waitForActivity: (_, { timeoutMs }) => ({ feedVersion: BigInt(timeoutMs() ?? 0) }),
      listActivities: (_, { timeoutMs }) => ({ feedVersion: BigInt(timeoutMs() ?? 0) }),
    });
    service(DonationService, {});
  },
});

/** Starts to listen. Returns the address without the scheme. */
async function listen(server: Http2Server | Http2SecureServer): Promise<string> {
  server.listen(0, "127.0.0.1");
  server.on("session", (session) => closers.push(() => session.destroy()));
  closers.push(() => server.close());
  await once(server, "listening");
  const address = server.address();
  return `127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
}

beforeAll(async () => {
  url = `http://${await listen(createServer(core))}`;
});
afterAll(() => {
  for (const close of closers) close();
});

const connect = (timeoutMs?: number) => connectToCore({ url, credential: "x", timeoutMs });

it.each([undefined, 10_000, 20_000])(
  "connectToCore with a limit of %s ms gives WaitForActivity a longer one than the core waits",
  async (timeoutMs) => {
    const activities = createClient(ActivityService, connect(timeoutMs));
    const waits = await activities.waitForActivity({});
    expect(Number(waits.feedVersion)).toBeGreaterThan(LONGEST_WAIT_MS + 3_000);
    const others = await activities.listActivities({});
    expect(Number(others.feedVersion)).toBeLessThanOrEqual(timeoutMs ?? 10_000);
  },
);

it.each([0, 1_500.5, 1e8, Number.POSITIVE_INFINITY])(
  "connectToCore refuses a limit of %s ms, which gRPC cannot send",
  (timeoutMs) => {
    const refused = new TypeError("timeoutMs must be a whole number from 1 to 99999999.");
    expect(() => connect(timeoutMs)).toThrow(refused);
  },
);

it("connectToCore gives a call the longest limit", async () => {
  const activities = createClient(ActivityService, connect(99_999_999));
  const { feedVersion } = await activities.listActivities({});
  expect(Number(feedVersion)).toBeGreaterThan(99_000_000);
});

it("connectToCore gives WaitForActivity the limit of its caller", async () => {
  const activities = createClient(ActivityService, connect());
  const { feedVersion } = await activities.waitForActivity({}, { timeoutMs: 5_000 });
  expect(Number(feedVersion)).toBeLessThanOrEqual(5_000);
});

it("failureOf tells that a request is too large, which has no ErrorInfo", async () => {
  const request = { accountId: "x".repeat(2_000), externalId: "1" };
  const failure = createClient(DonationService, connect()).payDonation(request).catch(failureOf);
  const message = expect.stringMatching(/^message size /);
  expect(await failure).toEqual({ code: "invalid_parameter", message });
});

it("failureOf tells that the core is older, if it does not know the call", async () => {
  const failure = createClient(AccountService, connect()).getAccount({}).catch(failureOf);
  const message = expect.stringMatching(
    / is older than this client, or another server has this address\.$/,
  );
  expect(await failure).toEqual({ code: "internal_error", message });
});

it("connectToCore reaches a core with mutual TLS and a private CA", async () => {
  certify(certificates, "ca", "DNS:ca.test");
  certify(certificates, "core", "IP:127.0.0.1", "ca");
  certify(certificates, "caller", "DNS:caller.test", "ca");
  const ca = readPem("ca.pem");
  const pair = (name: string) => ({ cert: readPem(`${name}.pem`), key: readPem(`${name}.key`) });
  const options = { ca, ...pair("core"), requestCert: true, rejectUnauthorized: true };
  const address = await listen(createSecureServer(options, core));
  const transport = connectToCore({
    ...{ url: `https://${address}`, credential: "x", tls: { ca, ...pair("caller") } },
  });
  const { feedVersion } = await createClient(ActivityService, transport).listActivities({});
  expect(Number(feedVersion)).toBeGreaterThan(0);
});

it.each(["127.0.0.1", "localhost"])(
  "CoreSessions gives up a connection to %s that gets no answer to its TLS handshake, and opens another one",
  async (host) => {
    certify(certificates, "alone", "IP:127.0.0.1,DNS:localhost");
    const [cert, key] = [readPem("alone.pem"), readPem("alone.key")];
    const address = await listen(createSecureServer({ cert, key }, core));
    let isSilent = true;
    const door = createTcpServer((socket) => {
      closers.push(() => socket.destroy());
      if (!isSilent) socket.pipe(openTcp(Number(address.split(":")[1]), "127.0.0.1")).pipe(socket);
    });
    await once(door.listen(0, "127.0.0.1"), "listening");
    closers.push(() => door.close());
    const { port } = door.address() as AddressInfo;
    const limits = { pingIntervalMs: 4_000, connectTimeoutMs: 500 };
    const sessions = new CoreSessions(`https://${host}:${port}`, limits, { ca: cert });
    expect(await sessions.connect()).toBe("error");
    isSilent = false;
    expect(await sessions.connect()).toBe("idle");
    sessions.abort();
  },
);

it("failureOf tells that a call whose answer was cut may be repeated", async () => {
  const cutter = createServer().on("stream", (stream) => {
    stream.respond({ ":status": 200, "content-type": "application/grpc+proto" });
    stream.write(Buffer.of(0, 0, 0), () => stream.close(constants.NGHTTP2_NO_ERROR));
  });
  const address = `http://${await listen(cutter)}`;
  const accounts = createClient(AccountService, connectToCore({ url: address, credential: "x" }));
  const failure = accounts.deleteAccount({}).catch(failureOf);
  expect(await failure).toMatchObject({ code: "temporarily_unavailable" });
});

it("failureOf throws an error of the caller's own code, and tells that an aborted call may be repeated", async () => {
  const bug = new TypeError("x is undefined");
  expect(() => failureOf(bug)).toThrow(bug);
  const activities = createClient(ActivityService, connect());
  const signal = AbortSignal.abort();
  const aborted = activities.listActivities({}, { signal }).catch(failureOf);
  expect(await aborted).toMatchObject({ code: "temporarily_unavailable" });
});
