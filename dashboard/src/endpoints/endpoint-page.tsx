import { type Endpoint, EndpointService, SessionScope } from "@activity/proto";
import { useQuery } from "@connectrpc/connect-query";
import { endpointLabel } from "../common/endpoint-label.ts";
import { errorCode } from "../common/error-code.ts";
import { Facts } from "../common/facts.tsx";
import { Loaded } from "../common/loaded.tsx";
import { Page } from "../common/page.tsx";
import { shownData, unlessRefused } from "../common/shown-data.ts";
import { Time } from "../common/time.tsx";
import { isHeld } from "../common/use-hold.ts";
import { useMay } from "../session/session-context.ts";
import { texts } from "../texts.ts";
import { EndpointActions } from "./endpoint-actions.tsx";
import { EndpointBadge } from "./endpoint-badge.tsx";
import { EndpointStats } from "./endpoint-stats.tsx";
import { kindsText } from "./kinds-text.ts";
import { LatestDeliveries } from "./latest-deliveries.tsx";
import { amountText } from "./min-amount.ts";
import { PendingRotation } from "./pending-rotation.tsx";

const READ_AGAIN_MS = 30_000;

/** The page of one endpoint: settings, statistics, latest deliveries and actions. */
export function EndpointPage({ endpointId }: { endpointId: string }) {
  const query = useQuery(
    EndpointService.method.getEndpoint,
    { endpointId },
    {
      refetchInterval: unlessRefused(READ_AGAIN_MS),
    },
  );
  const endpoint = shownData(query)?.endpoint;
  // Only this error removes the actions: their dialog may show a new secret, which is shown once. A held page always
  // keeps them, because the cookie may now be of another account, which does not have the endpoint.
  const isGone = errorCode(query.error) === "endpoint_not_found" && !isHeld();
  const lastRead = isGone ? undefined : query.data?.endpoint;
  const mayWrite = useMay(SessionScope.ENDPOINTS_WRITE);
  const mayRead = useMay(SessionScope.DELIVERIES_READ);
  return (
    <Page
      title={endpoint ? endpointLabel(endpoint) : texts.pages.endpoints}
      state={endpoint && <EndpointBadge endpoint={endpoint} />}
      back={{ href: "/endpoints", text: texts.pages.endpoints }}
      actions={mayWrite && lastRead && <EndpointActions endpoint={lastRead} />}
    >
      <Loaded query={query}>
        {({ endpoint }) =>
          endpoint && (
            <>
              {endpoint.nextSecretSignsFrom && (
                <PendingRotation endpoint={endpoint} mayWrite={mayWrite} />
              )}
              <Facts facts={factsOf(endpoint)} />
              <EndpointStats endpointId={endpoint.id} />
              {mayRead && <LatestDeliveries endpointId={endpoint.id} />}
            </>
          )
        }
      </Loaded>
    </Page>
  );
}

function factsOf({ url, kinds, createdAt, id, standardWebhooks, minAmountCents }: Endpoint) {
  return [
    [texts.endpoints.url, <bdi key="url">{url}</bdi>],
    [texts.endpoints.kinds, kindsText(kinds)],
    [
      texts.endpoints.minAmountFact,
      minAmountCents > 0n ? `€${amountText(minAmountCents)}` : texts.endpoints.none,
    ],
    [texts.endpoints.createdAt, <Time key="created" at={createdAt} />],
    ["Standard Webhooks", standardWebhooks ? texts.endpoints.on : texts.endpoints.off],
    ["Id", <code key="id">{id}</code>],
  ] as const;
}
