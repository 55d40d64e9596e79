import type { CallOptions } from "@connectrpc/connect";
import type { GatewayResponse } from "../gateway-response.ts";
import type { KeptPages } from "../kept-pages.ts";
import type { Upstream } from "../upstream.ts";

/** What a read has to do with. */
export type ReadContext = {
  readonly upstream: Upstream;
  readonly pages: KeptPages;
  readonly apiKey: string;
  readonly options: CallOptions;
};

/** A read whose parameters are good: makes the one upstream call and returns the JSON body. */
export type Read = (context: ReadContext) => Promise<NonNullable<GatewayResponse["body"]>>;

/** Parses the query of a path; throws InvalidParameterError. */
export type ParseRead = (query: string) => Read;
