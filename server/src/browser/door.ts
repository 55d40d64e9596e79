import { DomainError, ErrorCode } from "../common/errors.ts";

/**
 * Lets a call of a browser through that the dashboard's own page made. Another site's page can send the cookie
 * along where embedding allows it, but it names itself as origin, and no form can send the protocol's header.
 * Fails with `permission_denied`.
 */
export function checkDoor(header: Headers, origin: string): void {
  if (header.get("origin") !== origin) {
    throw refused(`by the page at ${origin}, which the header Origin has to name`);
  }
  const site = header.get("sec-fetch-site");
  if (site !== null && site !== "same-origin") {
    throw refused("by its own page, and Sec-Fetch-Site says that another site made this one");
  }
  if (header.get("connect-protocol-version") !== "1") {
    throw refused("in the Connect protocol, with the header Connect-Protocol-Version: 1");
  }
}

function refused(how: string): DomainError {
  return new DomainError(
    ErrorCode.PermissionDenied,
    `The dashboard's calls are made ${how}: open the dashboard at its own address.`,
  );
}
