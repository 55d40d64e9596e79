import { EndpointService, SessionScope } from "@activity/proto";
import { useQuery } from "@connectrpc/connect-query";
import { useMay } from "../session/session-context.ts";

/** Returns the URLs of the account's endpoints by their ids; none when the session may not see them. */
export function useEndpointUrls(): ReadonlyMap<string, string> {
  const enabled = useMay(SessionScope.ENDPOINTS_READ);
  const { data } = useQuery(EndpointService.method.listEndpoints, {}, { enabled });
  return new Map(data?.endpoints.map(({ id, url }) => [id, url]));
}
