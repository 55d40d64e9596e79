import { DispatchService } from "@activity/proto";
import { createLog } from "@activity/server";
import { readDeliveryConfig } from "@activity/workflows";
import { type Client, createClient, type Interceptor } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { NativeConnection } from "@temporalio/worker";
import { installEngineLog } from "../../../workflows/src/worker/engine-log.ts";

/** What a relay or a worker of its own process works with; the same variables as `workflows/src/main.ts`. */
export const config = readDeliveryConfig(process.env);
export const log = createLog((line) => process.stdout.write(line));
installEngineLog(log);

/** A client of the core; `interceptors` see a call first. */
export function connectDispatch(...interceptors: Interceptor[]): Client<typeof DispatchService> {
  const authorize: Interceptor = (next) => (request) => {
    request.header.set("authorization", `Bearer ${process.env.CORE_CREDENTIAL}`);
    return next(request);
  };
  const baseUrl = process.env.CORE_URL ?? "";
  const transport = createGrpcTransport({ baseUrl, interceptors: [...interceptors, authorize] });
  return createClient(DispatchService, transport);
}

/** Connects to Temporal, which may be starting. */
export async function connectEngine(): Promise<NativeConnection> {
  for (;;) {
    try {
      return await NativeConnection.connect(config.connection);
    } catch (cause) {
      log.error("Temporal is away", { cause });
    }
  }
}
