import fastify from "fastify";
import { expect, it } from "vitest";
import { createFastifyReceiver } from "../../src/adapters/fastify/index.ts";
import { createDelivery } from "../signed-delivery.ts";
import { describeReceiver } from "./conformance.ts";
import { post } from "./http-client.ts";
import { collectProblems } from "./problems.ts";

describeReceiver("Fastify", async (options) => {
  const app = fastify();
  app.register(createFastifyReceiver({ url: "/webhooks", ...options }));
  const address = await app.listen({ port: 0, host: "127.0.0.1" });
  return { url: `${address}/webhooks`, close: () => app.close() };
});

it("does not change the parsers of the app's other routes", async () => {
  const app = fastify();
  app.post("/other", async (request) => request.body);
  const receiver = createFastifyReceiver({ url: "/hook", ...collectProblems().options });
  app.register(receiver, { prefix: "/in" });
  const address = await app.listen({ port: 0, host: "127.0.0.1" });
  const { body, headers } = await createDelivery();
  expect((await post(`${address}/in/hook`, headers, body)).status).toBe(204);
  const other = await post(`${address}/other`, { "Content-Type": "application/json" }, body);
  expect(JSON.parse(other.text)).toEqual(JSON.parse(body.toString()));
  await app.close();
});
