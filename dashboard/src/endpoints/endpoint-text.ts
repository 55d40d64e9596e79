import type { Endpoint } from "@activity/proto";

/** What an endpoint is called: by its owner's name for it, else by its URL. */
export function endpointText({ name, url }: Pick<Endpoint, "name" | "url">): string {
  return name || url;
}
