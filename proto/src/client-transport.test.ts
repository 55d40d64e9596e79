import { once } from "node:events";
import { createServer, type Http2Server } from "node:http2";
import { createClient } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { afterAll, beforeAll, expect, it } from "vitest";
import { connectToCore, failureOf } from "./client-transport.ts";
import { DonationService } from "./gen/activity/ingest/v1/donation_service_pb.ts";
import { ActivityService } from "./gen/activity/read/v1/activity_service_pb.ts";

/** How long WaitForActivity waits for a change. ADR 0052 */
const LONGEST_WAIT_MS = 10_000;

let server: Http2Server;
let url: string;
const closers: (() => void)[] = [];

/** A core that answers with the deadline of the call. */
beforeAll(async () => {
  const handler = connectNodeAdapter({
    readMaxBytes: 1_000,
    routes: ({ service }) => {
      service(ActivityService, {
        waitForActivity: (_, { timeoutMs }) => ({ feedVersion: BigInt(timeoutMs() ?? 0) }),
        listActivities: (_, { timeoutMs }) => ({ feedVersion: BigInt(timeoutMs() ?? 0) }),
      });
      service(DonationService, {});
    },
  });
  server = createServer(handler).listen(0, "127.0.0.1");
  server.on("session", (session) => closers.push(() => session.destroy()));
  await once(server, "listening");
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
});
afterAll(() => {
  for (const close of closers) close();
  server.close();
});

const connect = (timeoutMs?: number) =>
  connectToCore({ url, credential: "x", ...(timeoutMs !== undefined && { timeoutMs }) });

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
