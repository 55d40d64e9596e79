import type { CallOptions } from "@connectrpc/connect";
import type { Upstream } from "../upstream.ts";

/** A read whose parameters are good: makes the one upstream call and returns the JSON body. */
export type Read = (upstream: Upstream, options: CallOptions) => Promise<string>;

/** Parses the query of a path; throws InvalidParameterError. */
export type ParseRead = (query: string) => Read;
