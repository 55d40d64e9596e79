import type { Connection, Fetch } from "../connection.ts";
import type { FilterOptions } from "../filters.ts";
import { createPoller, type OnWait, type Poller } from "./poller.ts";

/** The pollers of this process that have followers. */
const pollersByFetch = new WeakMap<Fetch, Map<string, Poller>>();

/**
 * Joins the shared poller of this address, key and filters. §4.4.2
 *
 * Followers share a poller only if they use the same `fetch`.
 */
export function joinPoller(
  connection: Connection,
  filters: FilterOptions,
  onWait: OnWait,
): { readonly poller: Poller; leave(): void } {
  const { apiKey, baseUrl, fetch } = connection;
  const pollers = pollersByFetch.get(fetch) ?? new Map<string, Poller>();
  pollersByFetch.set(fetch, pollers);
  const name = JSON.stringify([baseUrl, apiKey, filters.type, filters.platform]);
  const poller = pollers.get(name) ?? createPoller(connection, filters);
  pollers.set(name, poller);
  poller.followers.add(onWait);
  return {
    poller,
    leave() {
      poller.followers.delete(onWait);
      if (poller.followers.size === 0 && pollers.get(name) === poller) pollers.delete(name);
    },
  };
}
