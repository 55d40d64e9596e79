import { fileURLToPath } from "node:url";
import grpc from "@grpc/grpc-js";
import protoLoader from "@grpc/proto-loader";
import { describe, expect, it } from "vitest";
import { createPaidDonation, createReader } from "../harness/builders.ts";
import { useTestStack } from "../harness/stack.ts";

const PROTO = fileURLToPath(new URL("../../proto", import.meta.url));
const LOADER_OPTIONS = { includeDirs: [PROTO, `${PROTO}/vendor`], longs: String, enums: String };
const ACTIVITY_SERVICE = "activity.read.v1.ActivityService";

type Failure = { code: number; metadata: grpc.Metadata };
type AnyClient = Record<
  string,
  (
    request: object,
    metadata: grpc.Metadata,
    done: (error: Failure | null, answer: Record<string, unknown>) => void,
  ) => void
>;

const stack = useTestStack();

/** Loads a service from its proto, without our generated code, as a foreign program does. */
function load(file: string, path: string): AnyClient {
  const root = grpc.loadPackageDefinition(protoLoader.loadSync(file, LOADER_OPTIONS));
  const Service = path.split(".").reduce<unknown>((at, name) => (at as never)[name], root);
  return new (Service as grpc.ServiceClientConstructor)(
    `127.0.0.1:${stack.corePort}`,
    grpc.credentials.createInsecure(),
  ) as unknown as AnyClient;
}

function call(client: AnyClient, method: string, request: object, bearer?: string) {
  const metadata = new grpc.Metadata();
  if (bearer) metadata.set("authorization", `Bearer ${bearer}`);
  return new Promise<Record<string, unknown>>((resolve, reject) => {
    client[method]?.(request, metadata, (error, answer) =>
      error ? reject(error) : resolve(answer),
    );
  });
}

describe("@grpc/grpc-js with protos loaded at run time", () => {
  it("reads the feed, and gets our error code as a typed detail of the standard status", async () => {
    const { accountId, apiKey } = await createReader(stack);
    const { recordId } = await createPaidDonation(stack, accountId, { amountCents: 321n });
    const client = load("activity/read/v1/activity_service.proto", ACTIVITY_SERVICE);
    expect(await call(client, "ListActivities", {}, apiKey)).toMatchObject({
      activities: [{ id: `don_${recordId}`, value: "321", unit: "UNIT_CENTS" }],
    });
    const refused = call(client, "ListActivities", { cursor: "x" }, apiKey);
    const { code, metadata } = (await refused.catch((error) => error)) as Failure;
    expect(code).toBe(grpc.status.INVALID_ARGUMENT);
    const details = `${metadata.get("grpc-status-details-bin")[0]}`;
    expect(details).toContain("activity.read.v1.ErrorInfo");
    expect(details).toContain("invalid_cursor");
    expect(metadata.get("ratelimit")).toEqual([expect.stringMatching(/^"account";r=\d+;t=\d+$/)]);
  });

  it("checks health without a credential", async () => {
    const client = load("grpc/health/v1/health.proto", "grpc.health.v1.Health");
    for (const service of ["", ACTIVITY_SERVICE]) {
      expect(await call(client, "Check", { service })).toEqual({ status: "SERVING" });
    }
    await expect(call(client, "Check", { service: "no.such.Service" })).rejects.toMatchObject({
      code: grpc.status.NOT_FOUND,
    });
  });
});
