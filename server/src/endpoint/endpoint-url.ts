import { ACCEPTED_URL, parseTargetUrl } from "@activity/runtime/target-url";
import { DomainError, ErrorCode } from "../common/errors.ts";

/**
 * Parses the URL of an endpoint and returns it as it is stored. `allowedTargets` holds additional `host:port` targets,
 * for development only. Fails with `invalid_parameter` and the reason. §6
 */
export function parseEndpointUrl(text: string, allowedTargets: ReadonlySet<string>): string {
  const target = parseTargetUrl(text, allowedTargets);
  if ("href" in target) return target.href;
  throw new DomainError(ErrorCode.InvalidParameter, `url accepts ${ACCEPTED_URL[target.broken]}.`);
}
