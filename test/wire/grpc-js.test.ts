import { join } from "node:path";
import grpc from "@grpc/grpc-js";
import protoLoader from "@grpc/proto-loader";
import { expect, it } from "vitest";
import { ROOT } from "../../tools/release/published.ts";
import { createPaidDonation, createReader } from "../harness/builders.ts";
import { useTestStack } from "../harness/stack.ts";

const PROTO = join(ROOT, "proto");
const LOADING = { includeDirs: [PROTO, join(PROTO, "vendor")], longs: String, enums: String };

const stack = useTestStack();

it("@grpc/grpc-js, with protos loaded at run time, reads the feed, and gets our error codes as a typed detail", async () => {
  const file = "activity/read/v1/activity_service.proto";
  const definition = protoLoader.loadSync(file, LOADING)["activity.read.v1.ActivityService"];
  const Client = grpc.makeClientConstructor(definition as grpc.ServiceDefinition, "Activities");
  const client = new Client(`127.0.0.1:${stack.corePort}`, grpc.credentials.createInsecure());
  const { accountId, apiKey } = await createReader(stack);
  const { recordId } = await createPaidDonation(stack, accountId, { amountCents: 321n });
  const metadata = new grpc.Metadata();
  metadata.set("authorization", `Bearer ${apiKey}`);
  const list = (request: object) =>
    new Promise<unknown>((resolve, reject) => {
      const done = (error: unknown, page: unknown) => (error ? reject(error) : resolve(page));
      client.listActivities?.(request, metadata, done);
    });
  expect(await list({})).toMatchObject({
    activities: [{ id: `don_${recordId}`, value: "321", unit: "UNIT_CENTS" }],
  });
  // These calls do not go through a gateway, so the core must check them itself.
  const parameters = [{ limit: 0 }, { limit: 101 }, { order: 9 }, { type: 99 }, { platform: 99 }];
  for (const request of [{ cursor: "x" }, ...parameters]) {
    const refused = (await list(request).catch((error) => error)) as grpc.ServiceError;
    expect(refused.code).toBe(grpc.status.INVALID_ARGUMENT);
    const details = `${refused.metadata.get("grpc-status-details-bin")[0]}`;
    const code = "cursor" in request ? "invalid_cursor" : "invalid_parameter";
    expect(details).toMatch(new RegExp(`activity\\.read\\.v1\\.ErrorInfo.*${code}`, "s"));
  }
  client.close();
});
