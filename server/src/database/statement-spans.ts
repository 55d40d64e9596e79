import { type TracingChannel, tracingChannel } from "node:diagnostics_channel";
import { type OpenSpan, tracer } from "@activity/runtime/traces";
import { withoutValues } from "./without-values.ts";

/** What the driver tells of a statement; of a wait for a connection only that it was. */
type Message = { readonly query?: string };
/** A message that is on its way: its span, if it is sampled, and what was around who sent it. */
type Sent = { readonly span: OpenSpan | undefined; readonly around: unknown };

/** The driver's own channels. */
const STATEMENTS = ["mysql2:query", "mysql2:execute"];
const WAITS = "mysql2:pool:connect";

let isSubscribed = false;

/**
 * Makes a span of each statement that a sampled span asks for, and of its wait for a connection. The driver calls back
 * from whatever its socket was opened for: its callbacks get the trace of who asked. A process subscribes once, where
 * traces are on; the others never do, and the driver then tells nobody.
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
  channel.asyncStart.bindStore(store, (message) => sent.get(message as object)?.around);
  channel.subscribe({
    start(message) {
      // Most are of no sampled span: nothing is kept of them.
      if (tracer()?.current() === undefined) return;
      sent.set(message, { span: begin(statementOf(message)), around: store.getStore() });
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
