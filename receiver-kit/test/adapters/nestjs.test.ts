import "reflect-metadata";
import { Controller, type INestApplication, Module, Post, Req, Res } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { ExpressAdapter } from "@nestjs/platform-express";
import { FastifyAdapter } from "@nestjs/platform-fastify";
import { expect, it } from "vitest";
import {
  createNestReceiver,
  type NestRequest,
  type NestResponse,
} from "../../src/adapters/nestjs/index.ts";
import type { ReceiverOptions } from "../../src/receiver/receiver-options.ts";
import { createDelivery } from "../signed-delivery.ts";
import { describeReceiver, type Listening } from "./conformance.ts";
import { post } from "./http-client.ts";
import { collectProblems } from "./problems.ts";

/**
 * Creates a module like a Nest user's. It calls the decorators as functions, because Node runs TypeScript only without
 * decorators.
 */
function createModule(options: ReceiverOptions<unknown>): new () => object {
  class WebhookController {
    readonly #receive = createNestReceiver(options);
    receive(request: NestRequest, response: NestResponse): Promise<void> {
      return this.#receive(request, response);
    }
  }
  const method = Object.getOwnPropertyDescriptor(WebhookController.prototype, "receive");
  Controller("webhooks")(WebhookController);
  Post()(WebhookController.prototype, "receive", method as PropertyDescriptor);
  Req()(WebhookController.prototype, "receive", 0);
  Res()(WebhookController.prototype, "receive", 1);

  class AppModule {}
  Module({ controllers: [WebhookController] })(AppModule);
  return AppModule;
}

async function listen(app: INestApplication): Promise<Listening> {
  await app.listen(0, "127.0.0.1");
  return { url: `${await app.getUrl()}/webhooks`, close: () => app.close() };
}

describeReceiver("NestJS on Express", async (options) => {
  const settings = { bodyParser: false, logger: false, abortOnError: false } as const;
  return listen(await NestFactory.create(createModule(options), new ExpressAdapter(), settings));
});

for (const [platform, createAdapter] of [
  ["Express", () => new ExpressAdapter()],
  ["Fastify", () => new FastifyAdapter()],
] as const) {
  it.each([
    [true, 204, 400],
    [false, 500, 500],
  ])(`answers on ${platform} with rawBody: %s as it must: %i`, async (rawBody, good, forged) => {
    const { problems, options } = collectProblems();
    const settings = { rawBody, logger: false } as const;
    const app = await NestFactory.create(createModule(options), createAdapter(), settings);
    const receiver = await listen(app);
    const { body, headers } = await createDelivery();
    expect((await post(receiver.url, headers, body)).status).toBe(good);
    expect((await post(receiver.url, headers, Buffer.from(`${body} `))).status).toBe(forged);
    if (!rawBody) expect(String(problems[0])).toContain("{ rawBody: true }");
    await receiver.close();
  });
}
