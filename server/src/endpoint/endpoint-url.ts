import { ACCEPTED_URL, parseTargetUrl } from "@activity/runtime/target-url";
import { DomainError, ErrorCode } from "../common/errors.ts";

/**
 * Parses an endpoint's URL to its stored form. `allowedTargets` holds additional `host:port` targets, for development
 * only. Fails with `invalid_parameter` and the reason. §6
 */
export function parseEndpointUrl(text: string, allowedTargets: ReadonlySet<string>): string {
  const target = parseTargetUrl(text, allowedTargets);
  if ("href" in target) return target.href;
  throw new DomainError(
    ErrorCode.InvalidParameter,
    `url must have ${ACCEPTED_URL[target.broken]}.`,
  );
}
