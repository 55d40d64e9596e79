import createClient from "openapi-fetch";
import type { components, paths } from "./generated/api.ts";

/** An external client as its author would write it. It knows only our openapi.yaml. */
export function createActivityClient(baseUrl: string, apiKey: string) {
  const client = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${apiKey}` } });

  async function readMe(): Promise<components["schemas"]["Me"]> {
    const { data, error } = await client.GET("/me");
    if (error) throw new Error(error.error.code);
    return data.data;
  }

  /** Exports the whole feed, oldest first, page by page. §4.4 */
  async function readAll(limit: number): Promise<components["schemas"]["Activity"][]> {
    const activities: components["schemas"]["Activity"][] = [];
    for (let cursor: string | undefined; ; ) {
      const query = { order: "asc", limit, ...(cursor && { cursor }) } as const;
      const { data, error } = await client.GET("/activity", { params: { query } });
      if (error) throw new Error(error.error.code);
      activities.push(...data.data);
      if (!data.pagination.has_more) return activities;
      cursor = data.pagination.next_cursor ?? undefined;
    }
  }

  // @ts-expect-error The interface description knows no such order.
  const readSideways = () => client.GET("/activity", { params: { query: { order: "sideways" } } });

  return { readMe, readAll, readSideways };
}
