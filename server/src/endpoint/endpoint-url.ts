import { ACCEPTED_URL, parseTargetUrl } from "@activity/runtime/target-url";
import { DomainError, ErrorCode } from "../common/errors.ts";

/**
 * Returns the URL an endpoint may have, as it is stored. `allowedTargets` holds the `host:port` of development
 * only. Fails with `invalid_parameter`, saying why. §6
 */
export function parseEndpointUrl(text: string, allowedTargets: ReadonlySet<string>): string {
  const target = parseTargetUrl(text, allowedTargets);
  if ("href" in target) return target.href;
  throw new DomainError(ErrorCode.InvalidParameter, `url accepts ${ACCEPTED_URL[target.broken]}.`);
}
