import type { Endpoint } from "@activity/proto";

/**
 * Returns the name of an endpoint, or its host if it has no name. It is for places that outlive the page, such as a
 * file or the browser's history. They must not hold the whole URL, which may hold a token.
 */
export function endpointLabel({ name, url }: Pick<Endpoint, "name" | "url">): string {
  return name || new URL(url).host;
}
