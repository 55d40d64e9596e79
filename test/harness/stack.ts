import { randomBytes, randomInt } from "node:crypto";
import { createLog, createServiceCredential, Permission, readConfig } from "@activity/server";
import type { DeliveryConfig } from "@activity/workflows";
import type { DescService } from "@bufbuild/protobuf";
import { type Client, createClient } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { type Product, startProduct } from "../../tools/serve/product.ts";
import { unique } from "./builders.ts";
import { createTestDatabase, type TestDatabase } from "./database.ts";
import { type HttpAnswer, type HttpRequest, requestOf } from "./http.ts";
import { useStarted } from "./use-started.ts";

/** The whole product on a database of its own, as one test file sees it. */
export type TestStack = {
  readonly database: TestDatabase;
  readonly gatewayPort: number;
  readonly corePort: number;
  /** The log lines of every instance so far, as the product writes them. */
  readonly log: readonly string[];
  /** Sends a request to the gateway, by default from a client address that no other request has. */
  http(path: string, request?: HttpRequest): Promise<HttpAnswer>;
  /** A gRPC client of a service, with a credential that may do everything unless another is given. */
  client<Service extends DescService>(
    service: Service,
    headers?: Record<string, string>,
  ): Client<Service>;
  /** Creates a service credential for all accounts with these permissions, and returns its text. */
  credential(...permissions: Permission[]): Promise<string>;
  /** Creates one for a single account. */
  credentialOf(accountId: string, ...permissions: Permission[]): Promise<string>;
  /**
   * Starts one more instance of the product on the same database; it delivers if told so here or at first.
   * `env` holds further variables of its core.
   */
  startInstance(options?: {
    readonly deliveries?: DeliveryConfig;
    readonly env?: Readonly<Record<string, string>>;
  }): Promise<Product>;
  stop(): Promise<void>;
};

/** Starts the product; `redisUrl` makes it count requests there, `serverUrl` store on another server. */
export async function startTestStack(
  options: {
    redisUrl?: string | undefined;
    serverUrl?: string;
    /** Further variables of the core. */
    env?: Readonly<Record<string, string>>;
    /** Makes every instance deliver webhook events. */
    deliveries?: DeliveryConfig;
  } = {},
): Promise<TestStack> {
  const database = await createTestDatabase(options.serverUrl);
  const cursorKeys = randomBytes(32).toString("hex");
  const secretKeys = randomBytes(32).toString("hex");
  const log: string[] = [];
  const products = new Set<Product>();

  const startInstance: TestStack["startInstance"] = async (instance = {}) => {
    const product = await startProduct({
      core: readConfig({
        DATABASE_URL: database.url,
        CURSOR_KEYS: cursorKeys,
        SECRET_KEYS: secretKeys,
        CORE_PORT: "0",
        ...(options.redisUrl && { REDIS_URL: options.redisUrl }),
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
  };

  const { gatewayPort, corePort } = await startInstance();
  const credential = async (...permissions: Permission[]) =>
    createServiceCredential(database.url, unique("test"), permissions);
  const everything = await credential(...Object.values(Permission));
  const baseUrl = `http://127.0.0.1:${corePort}`;
  // All clients share a connection: one each, a minute of calls is more of them than a process may have.
  const sessionManager = new Http2SessionManager(baseUrl);
  const transportWith = (headers: Record<string, string>) =>
    createGrpcTransport({
      baseUrl,
      sessionManager,
      interceptors: [
        (next) => (request) => {
          for (const [name, value] of Object.entries(headers)) request.header.set(name, value);
          return next(request);
        },
      ],
    });

  return {
    database,
    gatewayPort,
    corePort,
    log,
    http: (path, request = {}) => requestOf(gatewayPort, path, withClientAddress(request)),
    client: (service, headers = { authorization: `Bearer ${everything}` }) =>
      createClient(service, transportWith(headers)),
    credential,
    credentialOf: (accountId, ...permissions) =>
      createServiceCredential(database.url, unique("test"), permissions, accountId),
    startInstance,
    async stop() {
      sessionManager.abort();
      for (const product of products) await product.stop();
      await database.drop();
    },
  };
}

/** The product, as the tests of a file or group share it. */
export const useTestStack = (options?: Parameters<typeof startTestStack>[0]) =>
  useStarted(() => startTestStack(options));

/** Gives a request an address that only it has, so that tests do not meet each other's limits. */
export function withClientAddress(request: HttpRequest): HttpRequest {
  const address = `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`;
  return { ...request, headers: { "x-forwarded-for": address, ...request.headers } };
}
