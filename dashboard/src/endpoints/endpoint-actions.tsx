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
      {/* An error of a switch is no longer true in the other state. */}
      <SwitchEndpoint key={String(endpoint.switchedOn)} endpoint={endpoint} />
      <DeleteEndpoint endpoint={endpoint} />
    </>
  );
}
