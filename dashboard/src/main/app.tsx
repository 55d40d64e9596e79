import { SessionScope } from "@activity/proto";
import type { ReactNode } from "react";
import { Redirect, Route, Switch } from "wouter";
import { ActivityPage } from "../activity/activity-page.tsx";
import { RecordPage } from "../activity/record-page.tsx";
import { Page } from "../common/page.tsx";
import { DeliveriesPage } from "../deliveries/deliveries-page.tsx";
import { DeliveryPage } from "../deliveries/delivery-page.tsx";
import { EndpointPage } from "../endpoints/endpoint-page.tsx";
import { EndpointsPage } from "../endpoints/endpoints-page.tsx";
import { NewEndpointPage } from "../endpoints/new-endpoint-page.tsx";
import { KeysPage } from "../keys/keys-page.tsx";
import { usePages } from "../layout/pages.ts";
import { Shell } from "../layout/shell.tsx";
import { OverviewPage } from "../overview/overview-page.tsx";
import { useMay } from "../session/session-context.ts";
import { texts } from "../texts.ts";

const { KEYS_READ, ENDPOINTS_READ, ENDPOINTS_WRITE, DELIVERIES_READ, ACTIVITY_READ } = SessionScope;

/** The dashboard of an open session. */
export function App() {
  const [first] = usePages();
  return (
    <Shell>
      <Switch>
        <Route path="/">
          {first === undefined ? (
            <Nothing />
          ) : first.path === "/" ? (
            <OverviewPage />
          ) : (
            <Redirect to={first.path} replace />
          )}
        </Route>
        <Route path="/keys">{withScope(KEYS_READ, <KeysPage />)}</Route>
        <Route path="/endpoints">{withScope(ENDPOINTS_READ, <EndpointsPage />)}</Route>
        <Route path="/endpoints/new">{withScope(ENDPOINTS_WRITE, <NewEndpointPage />)}</Route>
        <Route path="/endpoints/:id">
          {({ id }) => withScope(ENDPOINTS_READ, <EndpointPage key={id} endpointId={id} />)}
        </Route>
        <Route path="/deliveries">{withScope(DELIVERIES_READ, <DeliveriesPage />)}</Route>
        <Route path="/deliveries/:id">
          {({ id }) => withScope(DELIVERIES_READ, <DeliveryPage key={id} deliveryId={id} />)}
        </Route>
        <Route path="/activity">{withScope(ACTIVITY_READ, <ActivityPage />)}</Route>
        <Route path="/activity/:id">
          {({ id }) => withScope(ACTIVITY_READ, <RecordPage key={id} activityId={id} />)}
        </Route>
        <Route>
          <Page title={texts.notFound.title} intro={texts.notFound.text}>
            {null}
          </Page>
        </Route>
      </Switch>
    </Shell>
  );
}

/** Shows a page only if the session has its scope. The server refuses calls without the scope anyway. */
function withScope(scope: SessionScope, page: ReactNode) {
  return <Allowed scope={scope}>{page}</Allowed>;
}

function Allowed({ scope, children }: { scope: SessionScope; children: ReactNode }) {
  return useMay(scope) ? children : <Nothing />;
}

function Nothing() {
  const { title, text } = texts.session.nothing;
  return (
    <Page title={title} intro={text}>
      {null}
    </Page>
  );
}
