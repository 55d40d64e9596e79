import type { Socket } from "node:net";
import { DeliveryService, DeliveryState, DispatchService } from "@activity/proto";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { parse } from "yaml";
import { findFreePort } from "../../dev-stack/src/free-port.ts";
import { namesIn, readText } from "../architecture/import-rule.ts";
import { useDeliveryStack } from "../delivery/harness-deliveries.ts";
import { answer, reset } from "../delivery/harness-receiver-behaviours.ts";
import { inParallel } from "../harness/attack.ts";
import { createAccount, createPaidDonation, createReader } from "../harness/builders.ts";
import { useFolder, useStarted } from "../harness/use-started.ts";
import { ALERTS, startPrometheus } from "./harness-prometheus.ts";

/** The labels of the product's series, as in docs/operating.md. Histograms also have prom-client's `le`. */
const LABELS = ["call", "code", "decision", "outcome", "pool", "route", "state", "task"];
const DONOR = "Ada of the hidden name";

const folder = useFolder("prometheus");
const metricsPort = await findFreePort();
const delivery = useDeliveryStack(answer(200), { core: { METRICS_PORT: `${metricsPort}` } });
const prometheus = useStarted(() => startPrometheus(folder, metricsPort));
let accountId: string;
/** Texts that no metric may show. */
let hidden: string[];

const scrape = async (port = metricsPort) =>
  (await fetch(`http://127.0.0.1:${port}/metrics`)).text();

beforeAll(async () => {
  const { stack, receiver } = delivery;
  const reader = await createReader(stack);
  const { apiKey } = reader;
  accountId = reader.accountId;
  const { endpointId, secret } = await delivery.createEndpoint(accountId);
  const untilOneIs = (state: DeliveryState) =>
    vi.waitUntil(async () => (await delivery.statesOf(accountId)).includes(state), 30_000);
  await createPaidDonation(stack, accountId, { donorName: DONOR });
  await untilOneIs(DeliveryState.DELIVERED);
  receiver.behaviour = answer(503);
  await createPaidDonation(stack, accountId, { donorName: DONOR });
  await untilOneIs(DeliveryState.RETRYING);
  await stack.http("/api/v1/activity", { apiKey });
  await stack.http("/api/v1/me", { apiKey });
  await stack.http(`/api/v1/${accountId}?key=${apiKey}`);
  const { deliveries } = await stack.client(DeliveryService).listDeliveries({ accountId });
  const ids = deliveries.flatMap(({ id, eventId }) => [id, eventId]);
  hidden = [accountId, apiKey, endpointId, secret, ...ids, DONOR, `127.0.0.1:${receiver.port}`];
});

describe("the metrics", () => {
  it("are the product's families in docs/operating.md, and no others of the product", async () => {
    const listed = namesIn(readText("docs/operating.md"), /^\| `(activity_\w+)`/gm);
    const text = await scrape();
    const served = namesIn(text, /^# TYPE (activity_\w+) /gm);
    expect(listed.length).toBeGreaterThan(10);
    expect(served.toSorted()).toEqual(listed.toSorted());
    for (const name of listed)
      expect(text).toMatch(new RegExp(`^${name}\\w*(\\{.*\\})? [\\d.e+-]+$`, "m"));
  });

  it("count the page, the unknown path, both outcomes and the connections", async () => {
    const text = await scrape();
    const lines = text.split("\n");
    const count = (series: string) =>
      Number(lines.find((line) => line.startsWith(`${series} `))?.split(" ")[1]);
    const requests = "activity_gateway_request_duration_seconds_count";
    expect(count(`${requests}{route="/api/v1/activity",code="200"}`)).toBe(1);
    expect(count(`${requests}{route="other",code="404"}`)).toBe(1);
    expect(count('activity_rate_limit_decisions_total{decision="admitted"}')).toBe(2);
    // The core also counts a request with a credential that it has not seen before.
    expect(
      count('activity_rate_limit_decisions_total{decision="client_admitted"}'),
    ).toBeGreaterThan(0);
    for (const outcome of ["delivered", "receiver_busy"]) {
      expect(count(`activity_attempt_duration_seconds_count{outcome="${outcome}"}`)).toBe(1);
    }
    expect(count("activity_first_attempt_delay_seconds_count")).toBe(2);
    expect(count('activity_database_connections{pool="reads",state="idle"}')).toBeGreaterThan(0);
  });

  it("count a run that only Temporal holds, which is also logged. ADR 0045", async () => {
    const { stack } = delivery;
    const run = { accountNo: 1n, deliveryId: "nobodydelivery0", run: 1 };
    await stack.client(DispatchService).loadAttempt({ run, attempt: 2 });
    expect(await scrape()).toMatch(/^activity_unknown_runs_total 1$/m);
    const line = stack.log.find((each) => each.includes("does not hold"));
    expect(JSON.parse(line ?? "{}")).toMatchObject({ ...run, accountNo: 1, attempt: 2 });
  });

  it("show the attempts in flight while a receiver hangs", async () => {
    const inFlight = async () => /^activity_attempts_in_flight (.+)$/m.exec(await scrape())?.[1];
    expect(await inFlight()).toBe("0");
    const hung = Promise.withResolvers<Socket>();
    delivery.receiver.behaviour = hung.resolve;
    await createPaidDonation(delivery.stack, accountId);
    const socket = await hung.promise;
    await expect.poll(inFlight).toBe("1");
    reset(socket);
    await expect.poll(inFlight).toBe("0");
  });

  it("show the writes that wait for a connection while their accounts are locked", async () => {
    const { stack } = delivery;
    // Locks more accounts than the core has connections for their writes, so that some writes wait for a connection.
    const ids = await inParallel(10, () => createAccount(stack));
    await stack.database.query("START TRANSACTION");
    await stack.database.query("SELECT id FROM account WHERE id IN (?) FOR UPDATE", [ids]);
    const written = Promise.allSettled(ids.map((id) => createPaidDonation(stack, id)));
    const waiting = async () =>
      Number(/^activity_database_waiting\{pool="writes"\} (.+)$/m.exec(await scrape())?.[1]);
    await expect.poll(waiting).toBeGreaterThan(0);
    await stack.database.query("COMMIT");
    await written;
  });

  it("show no secret, id, name or address, and no label beyond the listed ones", async () => {
    const [text, temporal] = [await scrape(), await scrape(metricsPort + 1)];
    expect(hidden.length).toBeGreaterThan(8);
    for (const secret of hidden) expect(text + temporal).not.toContain(secret);
    const own = text.split("\n").filter((line) => line.startsWith("activity_"));
    const labels = new Set(own.flatMap((line) => namesIn(line, /[{,](\w+)="/g)));
    expect([...labels].filter((name) => name !== "le").toSorted()).toEqual(LABELS);
  });
});

describe("the dashboard and the alerts", () => {
  it("every query of a panel returns a series", async () => {
    type Dashboard = { panels: { targets: { expr: string }[] }[] };
    const { panels }: Dashboard = JSON.parse(readText("deploy/grafana/dashboard.json"));
    const queries = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
    expect(queries.length).toBeGreaterThan(15);
    for (const query of queries) {
      const now = query.replaceAll("$__rate_interval", "1m");
      await expect.poll(() => prometheus.query(now), { message: query }).toBeGreaterThan(0);
    }
  });

  it("every alert's query works, and every family and label in it exists", async () => {
    const file = parse(readText("deploy/prometheus/alerts.yaml"));
    const rules: { alert: string; expr: string }[] = file.groups[0].rules;
    expect(rules.length).toBeGreaterThan(10);
    for (const { alert, expr } of rules) {
      await prometheus.query(expr);
      const selectors = [
        ...expr.matchAll(/\b(?:activity_\w+|nodejs_\w+|process_\w+|up)\b(?:\{([^}]*)\})?/g),
      ];
      expect(selectors.length, alert).toBeGreaterThan(0);
      for (const [selector, matchers = ""] of selectors) {
        const name = selector.split("{")[0] ?? "";
        const labels = [...matchers.matchAll(/(\w+)(?==)/g)].map(([label]) => `${label}!=""`);
        const there = `${name}{${labels.join(",")}}`;
        await expect.poll(() => prometheus.query(there), { message: alert }).toBeGreaterThan(0);
      }
    }
  });

  it("docs/operating.md lists each alert with what to do", () => {
    expect(namesIn(readText("docs/operating.md"), /^\| `(Activity\w+)`/gm)).toEqual(ALERTS);
  });
});
