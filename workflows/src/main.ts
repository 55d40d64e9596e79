import { createGrpcTransport } from "@connectrpc/connect-node";
import { readDeliveryConfig } from "./config.ts";
import { startDeliveries } from "./start-deliveries.ts";

/** Runs relay and worker as a process of their own, against a core elsewhere, until told to stop. */
const coreUrl = process.env.CORE_URL ?? "http://127.0.0.1:50051";
const credential = process.env.CORE_CREDENTIAL ?? "";
const write =
  (level: string) =>
  (message: string, fields: Readonly<Record<string, unknown>> = {}) =>
    process.stdout.write(`${JSON.stringify({ level, message, ...fields }, nameErrors)}\n`);

const deliveries = startDeliveries({
  config: readDeliveryConfig(process.env),
  core: createGrpcTransport({
    baseUrl: coreUrl,
    interceptors: [
      (next) => (request) => {
        request.header.set("authorization", `Bearer ${credential}`);
        return next(request);
      },
    ],
  }),
  log: { info: write("info"), error: write("error") },
});
process.once("SIGINT", () => deliveries.stop());
process.once("SIGTERM", () => deliveries.stop());

/** Of an error only its name and code are logged: a message can hold what was asked for. */
function nameErrors(_key: string, value: unknown): unknown {
  if (!(value instanceof Error)) return value;
  return { name: value.name, code: "code" in value ? value.code : undefined };
}
