import { EndpointService, WebhookEventKind } from "@activity/proto";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { ChoiceBox } from "../common/choice-box.tsx";
import { Facts } from "../common/facts.tsx";
import { Page } from "../common/page.tsx";
import { SecretShown } from "../common/secret-shown.tsx";
import { StepSection } from "../common/step-section.tsx";
import { useChange } from "../common/use-change.ts";
import { useHold } from "../common/use-hold.ts";
import { texts } from "../texts.ts";
import { EndpointForm } from "./endpoint-form.tsx";
import { FirstTest } from "./first-test.tsx";
import { kindsText } from "./kinds-text.ts";
import { ReceiverCode } from "./receiver-code.tsx";

const INITIAL = {
  ...{ name: "", url: "", kinds: [WebhookEventKind.DONATION_CREATED] },
  ...{ standardWebhooks: false, minAmountCents: 0n },
};

/**
 * The steps from the URL of a new endpoint to its first delivered test. The signing secret is shown once, on this page.
 */
export function NewEndpointPage() {
  const [, navigate] = useLocation();
  const { mutate, data, error, isPending } = useChange(EndpointService.method.createEndpoint);
  const [isSaved, setIsSaved] = useState(false);
  // The answer has the secret, which is shown once. So the reader must stay for the answer.
  useHold(isPending);
  const endpoint = data?.endpoint;
  const steps = texts.endpoints.steps;
  return (
    <Page
      title={texts.endpoints.create}
      intro={steps.intro}
      back={{ href: "/endpoints", text: texts.pages.endpoints }}
    >
      <StepSection number={1} title={steps.where} isDone={endpoint !== undefined}>
        {endpoint ? (
          <Facts
            facts={[
              [texts.endpoints.url, <bdi key="url">{endpoint.url}</bdi>],
              ...(endpoint.name
                ? [[texts.endpoints.nameFact, <bdi key="name">{endpoint.name}</bdi>] as const]
                : []),
              [texts.endpoints.kinds, kindsText(endpoint.kinds)],
            ]}
          />
        ) : (
          <EndpointForm
            initial={INITIAL}
            action={texts.endpoints.create}
            error={error}
            isPending={isPending}
            onCancel={() => navigate("/endpoints")}
            onSubmit={({ kinds, ...input }) => mutate({ ...input, kinds: { kinds: [...kinds] } })}
          />
        )}
      </StepSection>
      <StepSection number={2} title={steps.secret} isDone={isSaved}>
        {data && (
          <>
            <SecretShown label={texts.endpoints.secret} secret={data.secret} isSaved={isSaved} />
            <p>{texts.endpoints.snippetHint}</p>
            <ChoiceBox type="checkbox" isChosen={isSaved} onChange={setIsSaved}>
              {texts.saved}
            </ChoiceBox>
          </>
        )}
      </StepSection>
      <StepSection number={3} title={steps.code}>
        {data && <ReceiverCode />}
      </StepSection>
      {endpoint ? (
        <FirstTest endpoint={endpoint} title={steps.test} />
      ) : (
        <StepSection number={4} title={steps.test} />
      )}
      {endpoint && <Link href={`/endpoints/${endpoint.id}`}>{steps.open}</Link>}
    </Page>
  );
}
