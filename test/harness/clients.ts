import type { DescService } from "@bufbuild/protobuf";
import { type Client, createClient, type Transport } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";

type Headers = Readonly<Record<string, string>>;
type Options = Partial<Parameters<typeof createGrpcTransport>[0]>;

export type Clients = <Service extends DescService>(service: Service) => Client<Service>;

/** A gRPC transport to a core. Every call sends these headers. If `headers` is a function, each call calls it. */
export function transportTo(
  baseUrl: string,
  headers: Headers | (() => Headers),
  options: Options = {},
): Transport {
  return createGrpcTransport({
    ...{ baseUrl, ...options },
    interceptors: [
      (next) => (request) => {
        const sent = typeof headers === "function" ? headers() : headers;
        for (const [name, value] of Object.entries(sent)) request.header.set(name, value);
        return next(request);
      },
    ],
  });
}

/** Makes clients that send a credential and share one connection. */
export function clientsOf(
  baseUrl: string,
  credential: string | (() => string),
  options?: Options,
): Clients {
  const shown = () => (typeof credential === "function" ? credential() : credential);
  const headers = () => ({ authorization: `Bearer ${shown()}` });
  const transport = transportTo(baseUrl, headers, options);
  return (service) => createClient(service, transport);
}
