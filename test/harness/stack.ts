import { randomBytes, randomInt } from "node:crypto";
import { createLog } from "@activity/runtime/log";
import { createServiceCredential, Permission, readConfig } from "@activity/server";
import type { DeliveryConfig } from "@activity/workflows";
import type { DescService } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { Http2SessionManager } from "@connectrpc/connect-node";
import { type Product, startProduct } from "../../tools/serve/product.ts";
import { unique } from "./builders.ts";
import { transportTo } from "./clients.ts";
import { createTestDatabase } from "./database.ts";
import { type HttpRequest, requestOf } from "./http.ts";
import { useStarted } from "./use-started.ts";

/** The whole product on its own database, as a test file uses it. */
export type TestStack = Awaited<ReturnType<typeof startTestStack>>;

type Variables = Readonly<Record<string, string>>;
type StackOptions = {
  /** The URL of the database server, by default the one that all tests share. */
  serverUrl?: string;
  /** Further environment variables of the core. */
  env?: Variables;
  /** Makes every instance deliver webhook events. */
  deliveries?: DeliveryConfig;
};

export async function startTestStack(options: StackOptions = {}) {
  const database = await createTestDatabase(options.serverUrl);
  const cursorKeys = randomBytes(32).toString("hex");
  const secretKeys = randomBytes(32).toString("hex");
  const log: string[] = [];
  const products = new Set<Product>();

  async function startInstance(
    instance: { readonly deliveries?: DeliveryConfig; readonly env?: Variables } = {},
  ): Promise<Product> {
    const product = await startProduct({
      core: readConfig({
        ...{ DATABASE_URL: database.url, CURSOR_KEYS: cursorKeys, SECRET_KEYS: secretKeys },
        CORE_PORT: "0",
        ...options.env,
        ...instance.env,
      }),
      gateway: { host: "127.0.0.1", port: 0, trustedProxies: ["127.0.0.1/32"] },
      deliveries: instance.deliveries ?? options.deliveries,
      log: createLog((line) => void log.push(line)),
    });
    products.add(product);
    return {
      ...product,
      async stop() {
        products.delete(product);
        await product.stop();
      },
    };
  }

  const { gatewayPort, corePort } = await startInstance();
  const credential = (...permissions: Permission[]) =>
    createServiceCredential(database.url, unique("test"), permissions);
  const everything = await credential(...Object.values(Permission));
  const baseUrl = `http://127.0.0.1:${corePort}`;
  // All clients share one connection. With a connection for each client, a long test would use up the file descriptors
  // of this process.
  const sessionManager = new Http2SessionManager(baseUrl);

  return {
    ...{ database, gatewayPort, corePort },
    /** The log lines of all instances so far. */
    log: log as readonly string[],
    /** Sends a request to the gateway, by default from an unused client address. */
    http: (path: string, request: HttpRequest = {}) =>
      requestOf(gatewayPort, path, withClientAddress(request)),
    /** A gRPC client of a service, by default with a credential that has every permission. */
    client: <Service extends DescService>(
      service: Service,
      headers: Variables = { authorization: `Bearer ${everything}` },
    ) => createClient(service, transportTo(baseUrl, headers, { sessionManager })),
    /** Creates a service credential for all accounts. Returns its text. */
    credential,
    credentialOf: (accountId: string, ...permissions: Permission[]) =>
      createServiceCredential(database.url, unique("test"), permissions, accountId),
    /**
     * Starts another instance on the same database. It delivers if `deliveries` is given here or to the stack. `env`
     * adds variables of its core.
     */
    startInstance,
    async stop() {
      sessionManager.abort();
      for (const product of products) await product.stop();
      await database.drop();
    },
  };
}

/** The product, shared by the tests of a file or group. */
export const useTestStack = (options?: StackOptions) => useStarted(() => startTestStack(options));

/** Gives a request its own client address, so that tests do not share a limit. */
export function withClientAddress(request: HttpRequest): HttpRequest {
  const address = `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`;
  return { ...request, headers: { "x-forwarded-for": address, ...request.headers } };
}
