import { type Endpoint, EndpointService, SessionScope } from "@activity/proto";
import { useQuery } from "@connectrpc/connect-query";
import { Link } from "wouter";
import { Aside } from "../common/aside.tsx";
import { ButtonLink } from "../common/button-link.tsx";
import { Empty } from "../common/empty.tsx";
import { useLimits } from "../common/limits-context.ts";
import { Loaded } from "../common/loaded.tsx";
import { Notice } from "../common/notice.tsx";
import { Page } from "../common/page.tsx";
import { unlessRefused } from "../common/shown-data.ts";
import { Table } from "../common/table.tsx";
import { useMay } from "../session/session-context.ts";
import { texts } from "../texts.ts";
import { EndpointBadge } from "./endpoint-badge.tsx";
import { EndpointRate } from "./endpoint-rate.tsx";
import { endpointText } from "./endpoint-text.ts";
import { kindsText } from "./kinds-text.ts";

const READ_AGAIN_MS = 30_000;

/** The account's endpoints. Contract 6. */
export function EndpointsPage() {
  const mayWrite = useMay(SessionScope.ENDPOINTS_WRITE);
  const query = useQuery(
    EndpointService.method.listEndpoints,
    {},
    {
      refetchInterval: unlessRefused(READ_AGAIN_MS),
    },
  );
  const limits = useLimits();
  const isFull = limits !== undefined && (query.data?.endpoints.length ?? 0) >= limits.endpoints;
  return (
    <Page
      title={texts.pages.endpoints}
      intro={texts.endpoints.intro}
      actions={
        mayWrite &&
        !isFull && <ButtonLink href="/endpoints/new">{texts.endpoints.create}</ButtonLink>
      }
    >
      {isFull && mayWrite && (
        <Notice look="warn">{texts.limits.endpoint_limit_reached?.(limits)}</Notice>
      )}
      <Loaded query={query}>
        {({ endpoints }) =>
          endpoints.length > 0 ? (
            <Table
              label={texts.pages.endpoints}
              columns={COLUMNS}
              rows={endpoints}
              rowKey={({ id }) => id}
            />
          ) : (
            <Empty title={texts.endpoints.empty} text={texts.endpoints.emptyText} />
          )
        }
      </Loaded>
    </Page>
  );
}

const COLUMNS = [
  {
    title: texts.deliveries.endpoint,
    isLong: true,
    cell: (endpoint: Endpoint) => (
      <>
        <Link href={`/endpoints/${endpoint.id}`}>
          <bdi>{endpointText(endpoint)}</bdi>
        </Link>{" "}
        {endpoint.name && (
          <bdi>
            <Aside text={endpoint.url} />
          </bdi>
        )}
      </>
    ),
  },
  { title: texts.endpoints.kinds, cell: ({ kinds }: Endpoint) => kindsText(kinds) },
  {
    title: texts.endpoints.state,
    cell: (endpoint: Endpoint) => <EndpointBadge endpoint={endpoint} />,
  },
  {
    title: texts.endpoints.lastDay,
    cell: ({ id }: Endpoint) => <EndpointRate endpointId={id} />,
  },
];
