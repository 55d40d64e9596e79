import { DomainError, ErrorCode } from "../common/errors.ts";

/**
 * Fails with `permission_denied` unless the dashboard's own page made the call. If embedding is allowed, another site's
 * page can send the cookie. But it has another origin, and a form on it cannot send the protocol's header.
 */
export function checkOwnPage(header: Headers, origin: string): void {
  if (header.get("origin") !== origin) {
    throw refused(`by the page at ${origin}, which the header Origin must name`);
  }
  const site = header.get("sec-fetch-site");
  if (site !== null && site !== "same-origin") {
    throw refused("by its own page, but Sec-Fetch-Site names another site");
  }
  if (header.get("connect-protocol-version") !== "1") {
    throw refused("in the Connect protocol, with the header Connect-Protocol-Version: 1");
  }
}

function refused(how: string): DomainError {
  return new DomainError(
    ErrorCode.PermissionDenied,
    `The dashboard's calls must be made ${how}. Open the dashboard at its own address.`,
  );
}
