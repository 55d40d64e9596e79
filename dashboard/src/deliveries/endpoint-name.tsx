import { Link } from "wouter";
import { texts } from "../texts.ts";
import { useEndpointUrls } from "./use-endpoint-urls.ts";

/** Where a delivery goes: the endpoint's URL, or what is left of one that was deleted. */
export function EndpointName({ endpointId }: { endpointId: string }) {
  const urls = useEndpointUrls();
  const url = urls.get(endpointId);
  if (url !== undefined) {
    return (
      <Link href={`/endpoints/${endpointId}`}>
        <bdi>{url}</bdi>
      </Link>
    );
  }
  return (
    <>
      <code>{endpointId}</code> {urls.size > 0 && `(${texts.endpoints.gone})`}
    </>
  );
}
