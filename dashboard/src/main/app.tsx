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
        <Route path="/keys">
          <Allowed scope={SessionScope.KEYS_READ}>
            <KeysPage />
          </Allowed>
        </Route>
        <Route path="/endpoints">
          <Allowed scope={SessionScope.ENDPOINTS_READ}>
            <EndpointsPage />
          </Allowed>
        </Route>
        <Route path="/endpoints/new">
          <Allowed scope={SessionScope.ENDPOINTS_WRITE}>
            <NewEndpointPage />
          </Allowed>
        </Route>
        <Route path="/endpoints/:id">
          {({ id }) => (
            <Allowed scope={SessionScope.ENDPOINTS_READ}>
              <EndpointPage key={id} endpointId={id} />
            </Allowed>
          )}
        </Route>
        <Route path="/deliveries">
          <Allowed scope={SessionScope.DELIVERIES_READ}>
            <DeliveriesPage />
          </Allowed>
        </Route>
        <Route path="/deliveries/:id">
          {({ id }) => (
            <Allowed scope={SessionScope.DELIVERIES_READ}>
              <DeliveryPage key={id} deliveryId={id} />
            </Allowed>
          )}
        </Route>
        <Route path="/activity">
          <Allowed scope={SessionScope.ACTIVITY_READ}>
            <ActivityPage />
          </Allowed>
        </Route>
        <Route path="/activity/:id">
          {({ id }) => (
            <Allowed scope={SessionScope.ACTIVITY_READ}>
              <RecordPage key={id} activityId={id} />
            </Allowed>
          )}
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
