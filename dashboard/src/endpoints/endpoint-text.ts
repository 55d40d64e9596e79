import type { Endpoint } from "@activity/proto";

/** Returns the name of an endpoint, or its URL if it has no name. */
export function endpointText({ name, url }: Pick<Endpoint, "name" | "url">): string {
  return name || url;
}
