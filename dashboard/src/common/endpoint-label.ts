import type { Endpoint } from "@activity/proto";

/**
 * Returns the name of an endpoint, or its host if it has no name. For places that outlive the page, such as a file or the
 * browser's history: a URL may hold a token.
 */
export function endpointLabel({ name, url }: Pick<Endpoint, "name" | "url">): string {
  return name || new URL(url).host;
}
