import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import { expect, it } from "vitest";
import { createFetchReceiver } from "../../src/adapters/fetch/index.ts";
import { createDelivery } from "../signed-delivery.ts";
import { describeReceiver } from "./conformance.ts";
import { listen } from "./listen.ts";
import { collectProblems } from "./problems.ts";

describeReceiver("Hono", (options) => {
  const receive = createFetchReceiver(options);
  const app = new Hono().post("/webhooks", (context) => receive(context.req.raw));
  return listen(getRequestListener(app.fetch));
});

it("reports that a request was consumed before", async () => {
  const { problems, options } = collectProblems();
  const receive = createFetchReceiver(options);
  const { body, headers } = await createDelivery();
  const request = new Request("http://localhost/", {
    method: "POST",
    headers,
    body: new Uint8Array(body),
  });
  await request.text();
  expect((await receive(request)).status).toBe(500);
  expect(String(problems[0])).toContain("the request was read before");
});
