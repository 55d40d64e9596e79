import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { DeliveryService, DeliveryState } from "@activity/proto";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { parse } from "yaml";
import { findFreePort } from "../../dev-stack/src/free-port.ts";
import { ROOT } from "../architecture/import-rule.ts";
import { type DeliveryStack, startDeliveryStack } from "../delivery/harness-deliveries.ts";
import { answer, write } from "../delivery/harness-receiver-behaviours.ts";
import { createPaidDonation, createReader } from "../harness/builders.ts";
import { useFolder } from "../harness/use-started.ts";
import { PROMETHEUS_FILES, promtool } from "./harness-prometheus.ts";

/** What may distinguish series: docs/operating.md, and what prom-client has of a process. */
const LABELS = ["call", "code", "decision", "outcome", "pool", "route", "state", "task"];
/** Takes the request and says nothing. */
const hang = write("");
const DONOR = "Ada of the hidden name";

const folder = useFolder("metrics");
let delivery: DeliveryStack;
let metricsPort: number;
let accountId: string;
/** What must be found nowhere. */
let hidden: string[];

const scrape = async (port = metricsPort) =>
  (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
const scrapeTemporal = () => scrape(metricsPort + 1);

beforeAll(async () => {
  metricsPort = await findFreePort();
  delivery = await startDeliveryStack(answer(200), { core: { METRICS_PORT: `${metricsPort}` } });
  const { stack, receiver } = delivery;
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
afterAll(() => delivery.stop());

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
    // A credential that the core has not seen is counted too.
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
    const [text, temporal] = [await scrape(), await scrapeTemporal()];
    expect(hidden.length).toBeGreaterThan(8);
    for (const secret of hidden) expect(text + temporal).not.toContain(secret);
    const own = text.split("\n").filter((line) => line.startsWith("activity_"));
    const labels = own.flatMap((line) =>
      [...line.matchAll(/[{,](\w+)="/g)].map(([, name]) => name),
    );
    expect([...new Set(labels)].filter((name) => name !== "le").toSorted()).toEqual(LABELS);
  });
});

/** A family in a query, with what it asks of labels. */
const SELECTOR = /\b(?:activity|nodejs|process|temporal)_\w+\b(?:\{([^}]*)\})?/g;

/** Holds that a query finds what is scraped: each family with each label, of this value where the query is `exact`. */
async function expectFound(query: string, isExact: boolean): Promise<void> {
  for (const [selector, matchers = ""] of query.matchAll(SELECTOR)) {
    const [name = ""] = selector.split("{");
    const wanted = [...matchers.matchAll(/(\w+)=(~?)"([^"]*)"/g)]
      // Prometheus itself adds that one.
      .filter(([, label]) => label !== "job")
      .map(([, label, , value]) => `${label}="${isExact ? `${value}"` : ""}`);
    const series = async () =>
      `${await scrape()}\n${await scrapeTemporal()}`
        .split("\n")
        .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
        .filter((line) => wanted.every((each) => line.includes(each)));
    await expect.poll(series, { message: query }).not.toEqual([]);
  }
}

describe("the dashboard and the alerts", () => {
  it("every query of a panel is one, and finds a series", async () => {
    const { panels } = JSON.parse(
      readFileSync(join(ROOT, "deploy/grafana/dashboard.json"), "utf8"),
    ) as { panels: { targets: { expr: string }[] }[] };
    const queries = panels.flatMap(({ targets }) =>
      targets.map(({ expr }) => expr.replaceAll("$__rate_interval", "1m")),
    );
    expect(queries.length).toBeGreaterThan(15);
    const rules = queries.map((expr, place) => ({ record: `panel:query_${place}`, expr }));
    const file = join(folder, "panels.yaml");
    writeFileSync(file, JSON.stringify({ groups: [{ name: "panels", rules }] }));
    expect(await promtool("check", "rules", file)).toContain(
      `SUCCESS: ${rules.length} rules found`,
    );
    for (const query of queries) await expectFound(query, true);
  });

  it("every family and label that an alert names is there", async () => {
    const rules: { alert: string; expr: string }[] = parse(
      readFileSync(join(PROMETHEUS_FILES, "alerts.yaml"), "utf8"),
    ).groups[0].rules;
    expect(rules.length).toBeGreaterThan(10);
    for (const { expr } of rules) await expectFound(expr, false);
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
  const isLoaded = async (address: string) => {
    const script = `
      import { createRequire } from "node:module";
      import "./tools/serve/product.ts";
      import { openMetrics } from "@activity/runtime/metrics-listener";
      const { close } = await openMetrics(${address});
      const { cache } = createRequire(process.cwd() + "/");
      console.log(Object.keys(cache).some((file) => file.includes("prom-client")));
      close();
      process.exit();`;
    const args = ["--input-type=module", "--eval", script];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT });
    return stdout.trim();
  };
  expect(await isLoaded("undefined")).toBe("false");
  expect(await isLoaded('{ host: "127.0.0.1", port: 0 }')).toBe("true");
});
