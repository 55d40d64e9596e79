import type { Endpoint } from "@activity/proto";
import { DeleteEndpoint } from "./delete-endpoint.tsx";
import { EditEndpoint } from "./edit-endpoint.tsx";
import { RotateSecret } from "./rotate-secret.tsx";
import { SendTest } from "./send-test.tsx";
import { SwitchEndpoint } from "./switch-endpoint.tsx";

/** The actions on an endpoint. */
export function EndpointActions({ endpoint }: { endpoint: Endpoint }) {
  return (
    <>
      {endpoint.switchedOn && <SendTest endpoint={endpoint} />}
      <EditEndpoint endpoint={endpoint} />
      <RotateSecret endpoint={endpoint} />
      {/* A new state removes the error of the last switch, which is no longer true. */}
      <SwitchEndpoint key={String(endpoint.switchedOn)} endpoint={endpoint} />
      <DeleteEndpoint endpoint={endpoint} />
    </>
  );
}
