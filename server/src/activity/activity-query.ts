import {
  ActivityTypeSchema,
  type ListActivitiesRequest,
  Order,
  OrderSchema,
  PlatformSchema,
} from "@activity/proto";
import type { DescEnum } from "@bufbuild/protobuf";
import { enumNames } from "../common/enum-names.ts";
import { DomainError, ErrorCode } from "../common/errors.ts";
import { type Micros, microsFromTimestamp } from "../common/timestamps.ts";

const DEFAULT_LIMIT = 50;
/** The most activities of a page. The gateway checks it too, but gRPC callers and browsers do not use the gateway. */
const MAX_LIMIT = 100;

/** A validated query: which part of a feed to read. §4.2 */
export type ActivityQuery = {
  readonly limit: number;
  readonly ascending: boolean;
  /** The number of an ActivityType; 0 for all. */
  readonly type: number;
  /** The number of a Platform; 0 for all. */
  readonly platform: number;
  readonly sinceMicros: Micros | undefined;
  readonly untilMicros: Micros | undefined;
};

/** Validates a request. Fails with `invalid_parameter`. */
export function parseActivityQuery(request: ListActivitiesRequest): ActivityQuery {
  const limit = request.limit ?? DEFAULT_LIMIT;
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT) {
    throw invalid(`limit accepts a whole number from 1 to ${MAX_LIMIT}.`);
  }
  checkDefined("order", request.order, OrderSchema);
  checkDefined("type", request.type, ActivityTypeSchema);
  checkDefined("platform", request.platform, PlatformSchema);
  return {
    limit,
    ascending: request.order === Order.ASC,
    type: request.type,
    platform: request.platform,
    sinceMicros: request.since && microsFromTimestamp(request.since, "since"),
    untilMicros: request.until && microsFromTimestamp(request.until, "until"),
  };
}

function checkDefined(name: string, value: number, schema: DescEnum): void {
  if (schema.value[value] === undefined) throw invalid(`${name} accepts ${enumNames(schema)}.`);
}

function invalid(message: string): DomainError {
  return new DomainError(ErrorCode.InvalidParameter, message);
}
