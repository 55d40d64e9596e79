import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DeliveryService, DeliveryState } from "@activity/proto";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { parse } from "yaml";
import { findFreePort } from "../../dev-stack/src/free-port.ts";
import { ROOT } from "../architecture/import-rule.ts";
import { type DeliveryStack, startDeliveryStack } from "../delivery/harness-deliveries.ts";
import { answer, write } from "../delivery/harness-receiver-behaviours.ts";
import { createPaidDonation, createReader } from "../harness/builders.ts";
import { runModule } from "./harness-modules.ts";
import { PROMETHEUS_FILES, type Prometheus, startPrometheus } from "./harness-prometheus.ts";

/** The allowed labels of series: those of docs/operating.md and prom-client's. */
const LABELS = ["call", "code", "decision", "outcome", "pool", "route", "state", "task"];
/** Reads the request and never answers. */
const hang = write("");
const DONOR = "Ada of the hidden name";

let delivery: DeliveryStack;
let prometheus: Prometheus;
let metricsPort: number;
let accountId: string;
/** Texts that no metric may show. */
let hidden: string[];

const scrape = async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();

beforeAll(async () => {
  metricsPort = await findFreePort();
  delivery = await startDeliveryStack(answer(200), { core: { METRICS_PORT: `${metricsPort}` } });
  const { stack, receiver } = delivery;
  prometheus = await startPrometheus(metricsPort);
  const { accountId: id, apiKey } = await createReader(stack);
  accountId = id;
  const { endpointId, secret } = await delivery.createEndpoint(accountId);
  const list = () => stack.client(DeliveryService).listDeliveries({ accountId });
  const untilOneIs = (state: DeliveryState) =>
    vi.waitUntil(async () => (await list()).deliveries.some((each) => each.state === state), {
      timeout: 30_000,
    });
  await createPaidDonation(stack, accountId, { donorName: DONOR });
  await untilOneIs(DeliveryState.DELIVERED);
  receiver.behaviour = answer(503);
  await createPaidDonation(stack, accountId, { donorName: DONOR });
  await untilOneIs(DeliveryState.RETRYING);
  await stack.http("/api/v1/activity", { apiKey });
  await stack.http("/api/v1/me", { apiKey });
  await stack.http(`/api/v1/${accountId}?key=${apiKey}`);
  const ids = (await list()).deliveries.flatMap(({ id, eventId }) => [id, eventId]);
  hidden = [accountId, apiKey, endpointId, secret, ...ids, DONOR, `127.0.0.1:${receiver.port}`];
});
afterAll(async () => {
  await prometheus?.stop();
  await delivery.stop();
});

describe("what a Prometheus scrapes", () => {
  it("has the families that docs/operating.md lists, and of the product no others", async () => {
    const docs = readFileSync(join(ROOT, "docs/operating.md"), "utf8");
    const listed = [...docs.matchAll(/^\| `(activity_\w+)`/gm)].map(([, name]) => name ?? "");
    const text = await scrape();
    const served = [...text.matchAll(/^# TYPE (activity_\w+) /gm)].map(([, name]) => name ?? "");
    expect(listed.length).toBeGreaterThan(10);
    expect(served.toSorted()).toEqual(listed.toSorted());
    for (const name of listed)
      expect(text).toMatch(new RegExp(`^${name}\\w*(\\{.*\\})? [\\d.e+-]+$`, "m"));
  });

  it("tells what happened: the page, the made-up path, both outcomes, what waits", async () => {
    const text = await scrape();
    const count = (series: string) =>
      Number(
        text
          .split("\n")
          .find((line) => line.startsWith(`${series} `))
          ?.split(" ")[1],
      );
    const requests = "activity_gateway_request_duration_seconds_count";
    expect(count(`${requests}{route="/api/v1/activity",code="200"}`)).toBe(1);
    expect(count(`${requests}{route="other",code="404"}`)).toBe(1);
    expect(count('activity_rate_limit_decisions_total{decision="admitted"}')).toBe(2);
    // The core also counts a request with a credential that it has not seen before.
    expect(
      count('activity_rate_limit_decisions_total{decision="client_admitted"}'),
    ).toBeGreaterThan(0);
    const attempts = "activity_attempt_duration_seconds_count";
    expect(count(`${attempts}{outcome="delivered"}`)).toBe(1);
    expect(count(`${attempts}{outcome="receiver_busy"}`)).toBe(1);
    expect(count("activity_first_attempt_delay_seconds_count")).toBe(2);
    expect(count('activity_database_connections{pool="reads",state="idle"}')).toBeGreaterThan(0);
  });

  it("has the attempts in flight while a receiver hangs", async () => {
    const inFlight = async () => /^activity_attempts_in_flight (.+)$/m.exec(await scrape())?.[1];
    expect(await inFlight()).toBe("0");
    delivery.receiver.behaviour = hang;
    await createPaidDonation(delivery.stack, accountId);
    await expect.poll(inFlight).toBe("1");
    await expect.poll(inFlight, { timeout: 30_000 }).toBe("0");
  });

  it("has no secret, id, name or address, and no label beyond the listed ones", async () => {
    const temporal = await (await fetch(`http://127.0.0.1:${metricsPort + 1}/metrics`)).text();
    const text = await scrape();
    expect(hidden.length).toBeGreaterThan(8);
    for (const secret of hidden) expect(text + temporal).not.toContain(secret);
    const own = text.split("\n").filter((line) => line.startsWith("activity_"));
    const labels = own.flatMap((line) =>
      [...line.matchAll(/[{,](\w+)="/g)].map(([, name]) => name),
    );
    expect([...new Set(labels)].filter((name) => name !== "le").toSorted()).toEqual(LABELS);
  });
});

describe("the dashboard and the alerts", () => {
  it("every query of a panel returns a series", async () => {
    const { panels } = JSON.parse(
      readFileSync(join(ROOT, "deploy/grafana/dashboard.json"), "utf8"),
    ) as { panels: { targets: { expr: string }[] }[] };
    const queries = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
    expect(queries.length).toBeGreaterThan(15);
    for (const query of queries) {
      const now = query.replaceAll("$__rate_interval", "1m");
      await expect.poll(() => prometheus.query(now), { message: query }).toBeGreaterThan(0);
    }
  });

  it("every alert's query is answered, and every family and label that it names is there", async () => {
    const rules: { alert: string; expr: string }[] = parse(
      readFileSync(join(PROMETHEUS_FILES, "alerts.yaml"), "utf8"),
    ).groups[0].rules;
    expect(rules.length).toBeGreaterThan(10);
    for (const { alert, expr } of rules) {
      await prometheus.query(expr);
      const selectors = [...expr.matchAll(/\b(?:activity_\w+|nodejs_\w+|up)\b(?:\{([^}]*)\})?/g)];
      expect(selectors.length, alert).toBeGreaterThan(0);
      for (const [selector, matchers = ""] of selectors) {
        const name = selector.split("{")[0] ?? "";
        const labels = [...matchers.matchAll(/(\w+)(?==)/g)].map(([label]) => `${label}!=""`);
        const there = `${name}{${labels.join(",")}}`;
        await expect.poll(() => prometheus.query(there), { message: alert }).toBeGreaterThan(0);
      }
    }
    // No alert has a reason to fire here.
    await expect.poll(() => prometheus.query('ALERTS{alertstate="firing"}')).toBe(0);
  });

  it("docs/operating.md says of each alert what to do", () => {
    const docs = readFileSync(join(ROOT, "docs/operating.md"), "utf8");
    const told = [...docs.matchAll(/^\| `(Activity\w+)`/gm)].map(([, name]) => name);
    const rules = readFileSync(join(PROMETHEUS_FILES, "alerts.yaml"), "utf8");
    const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name]) => name);
    expect(told).toEqual(alerts);
  });
});

it("loads prom-client only where a port is given", async () => {
  const isLoaded = (address: string) =>
    runModule(`
      import { createRequire } from "node:module";
      import "./tools/serve/product.ts";
      import { openMetrics } from "@activity/runtime/metrics-listener";
      const { close } = await openMetrics(${address});
      const { cache } = createRequire(process.cwd() + "/");
      console.log(Object.keys(cache).some((file) => file.includes("prom-client")));
      close();
      process.exit();`);
  expect(await isLoaded("undefined")).toBe("false");
  expect(await isLoaded('{ host: "127.0.0.1", port: 0 }')).toBe("true");
});
