import { type TracingChannel, tracingChannel } from "node:diagnostics_channel";
import { type OpenSpan, tracer } from "@activity/runtime/traces";
import { withoutValues } from "./without-values.ts";

/** The driver's message about a statement, or about a wait for a connection, which has no `query`. */
type Message = { readonly query?: string };
/** An open message: its span, if it is sampled, and the trace context of its caller. */
type Sent = { readonly span: OpenSpan | undefined; readonly context: unknown };

/** The driver's diagnostics channels. */
const STATEMENTS = ["mysql2:query", "mysql2:execute"];
const WAITS = "mysql2:pool:connect";

let isSubscribed = false;

/**
 * Makes a span for each statement inside a sampled span, and for its wait for a connection. The driver calls back in
 * the context that opened its socket, so this restores the caller's context. A process subscribes once, if
 * traces are on. Without subscribers the driver publishes nothing.
 */
export function traceStatements(): void {
  if (isSubscribed || tracer() === undefined) return;
  isSubscribed = true;
  for (const name of STATEMENTS) subscribe(tracingChannel(name), ({ query = "" }) => query);
  subscribe(tracingChannel(WAITS), () => undefined);
}

function subscribe(
  channel: TracingChannel<unknown, object>,
  statementOf: (message: Message) => string | undefined,
): void {
  const sent = new WeakMap<object, Sent>();
  const store = tracer()?.store;
  if (store === undefined) return;
  channel.asyncStart.bindStore(store, (message) => sent.get(message as object)?.context);
  channel.subscribe({
    start(message) {
      // Keeps nothing for a statement outside a sampled span, as most statements are.
      if (tracer()?.current() === undefined) return;
      sent.set(message, { span: begin(statementOf(message)), context: store.getStore() });
    },
    end() {},
    asyncStart(message) {
      sent.get(message)?.span?.end();
    },
    asyncEnd() {},
    error(message) {
      sent.get(message)?.span?.fail();
    },
  });
}

function begin(statement: string | undefined): OpenSpan | undefined {
  const attributes = { "db.system.name": "mysql" };
  const kind = "client";
  if (statement === undefined) return tracer()?.start("wait for a connection", {});
  const text = withoutValues(statement);
  const [verb = ""] = text.split(" ", 1);
  return tracer()?.start(verb, { kind, attributes: { ...attributes, "db.query.text": text } });
}
