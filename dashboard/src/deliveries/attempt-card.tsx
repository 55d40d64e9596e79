import { type Attempt, AttemptOutcome } from "@activity/proto";
import type { ReactNode } from "react";
import { Badge } from "../common/badge.tsx";
import { CodeBlock } from "../common/code-block.tsx";
import { durationMs, durationText } from "../common/duration-text.ts";
import { Time } from "../common/time.tsx";
import { UntrustedText } from "../common/untrusted-text.tsx";
import { texts } from "../texts.ts";
import styles from "./attempts.module.css";

/** After these outcomes, no request was sent. */
const WITHOUT_REQUEST: readonly AttemptOutcome[] = [
  AttemptOutcome.DNS_FAILED,
  AttemptOutcome.UNSAFE_TARGET,
];

/** The most bytes that are stored of an answer's body. A body of this length may be the beginning of a longer one. */
const STORED_BODY_BYTES = 1024;

/** One attempt: its time, duration, outcome and answer, and advice to the owner. */
export function AttemptCard(props: {
  attempt: Attempt;
  eventId: string;
  /** Whether another attempt will follow this one. */
  isRetried: boolean;
}) {
  const { attempt, eventId, isRetried } = props;
  const { outcome, statusCode, detail, responseHeaders, responseBody } = attempt;
  const isDelivered = outcome === AttemptOutcome.DELIVERED;
  const check = texts.deliveries.checks[outcome];
  return (
    <div className={styles.card}>
      <div className={styles.head}>
        <strong>{texts.deliveries.attempt(attempt.attempt)}</strong>
        <Badge look={isDelivered ? "good" : "bad"} text={texts.deliveries.outcomes[outcome]} />
        {statusCode !== undefined && (
          <span>
            {texts.deliveries.status} <code>{statusCode}</code>
          </span>
        )}
        <span className={styles.muted}>{durationText(durationMs(attempt.duration))}</span>
        <span className={styles.muted}>
          <Time at={attempt.startedAt} hasSeconds />
        </span>
      </div>
      {check && (
        <p>
          <strong>{texts.deliveries.check}:</strong> {check} {isRetried && texts.deliveries.retried}
        </p>
      )}
      {detail !== undefined && (
        <p className={styles.detail}>
          <UntrustedText text={detail} />
        </p>
      )}
      {responseBody.length > 0 && (
        <CodeBlock label={texts.deliveries.answered} text={bodyText(responseBody)} />
      )}
      {responseHeaders !== "" && (
        <Headers label={texts.deliveries.headersReceived} text={responseHeaders.trimEnd()} />
      )}
      {!WITHOUT_REQUEST.includes(outcome) && (
        <Headers
          label={
            statusCode === undefined ? texts.deliveries.headersIfSent : texts.deliveries.headers
          }
          text={headersText(attempt, eventId)}
        >
          <p className={styles.muted}>{texts.deliveries.headersToo}</p>
        </Headers>
      )}
    </div>
  );
}

function Headers(props: { label: string; text: string; children?: ReactNode }) {
  const { label, text } = props;
  return (
    <details>
      <summary>{label}</summary>
      <CodeBlock label={label} text={text} />
      {props.children}
    </details>
  );
}

/** Decodes a stored body. Leaves out a character that was cut at its end. */
function bodyText(body: Uint8Array): string {
  return new TextDecoder().decode(body, { stream: body.length === STORED_BODY_BYTES });
}

/**
 * Returns the headers of an attempt's request. The signature is not stored, so the text shows its formula. The attempt
 * does not store whether Standard Webhooks was on. §6.2
 */
function headersText({ attempt, startedAt }: Attempt, eventId: string): string {
  return [
    "Content-Type: application/json",
    "User-Agent: Service-Webhooks/1",
    `Service-Event-Id: ${eventId}`,
    `Service-Timestamp: ${startedAt?.seconds}`,
    `Service-Attempt: ${attempt}`,
    `Service-Signature: v1=${texts.deliveries.signatureOf}`,
  ].join("\n");
}
