// Runs every adapter of the packed kit in its real framework, over HTTP.
import "reflect-metadata";
import { once } from "node:events";
import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { Controller, Module, Post, Req, Res } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import express from "express";
import fastify from "fastify";
import { Hono } from "hono";
import { signedHeaders } from "receiver-kit";
import { createLambdaReceiver } from "receiver-kit/aws-lambda";
import { createExpressReceiver } from "receiver-kit/express";
import { createFastifyReceiver } from "receiver-kit/fastify";
import { createFetchReceiver } from "receiver-kit/fetch";
import { createMemoryStore } from "receiver-kit/memory";
import { createNestReceiver } from "receiver-kit/nestjs";
import { createNodeReceiver } from "receiver-kit/node-http";

const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

const startByName = {
  "node:http": (options) => serve(createNodeReceiver(options)),
  Express: (options) => serve(express().post("/webhooks", createExpressReceiver(options))),
  async Fastify(options) {
    const app = fastify();
    app.register(createFastifyReceiver({ url: "/webhooks", ...options }));
    await app.listen({ port: 0, host: "127.0.0.1" });
    return { port: app.server.address().port, close: () => app.close() };
  },
  Hono(options) {
    const receive = createFetchReceiver(options);
    const app = new Hono().post("/webhooks", (context) => receive(context.req.raw));
    return serve(getRequestListener(app.fetch));
  },
  async NestJS(options) {
    const app = await NestFactory.create(nestModule(options), { rawBody: true, logger: false });
    await app.listen(0, "127.0.0.1");
    return { port: app.getHttpServer().address().port, close: () => app.close() };
  },
  "AWS Lambda"(options) {
    const receive = createLambdaReceiver(options);
    return serve(async (request, response) => {
      const chunks = await request.toArray();
      const body = Buffer.concat(chunks).toString("base64");
      const answer = await receive({ headers: request.headers, body, isBase64Encoded: true });
      response.writeHead(answer.statusCode).end(answer.body);
    });
  },
};

for (const [name, start] of Object.entries(startByName)) {
  let handled = 0;
  const { port, close } = await start({
    secrets: secret,
    store: createMemoryStore(),
    handle: () => {
      handled += 1;
    },
    onProblem: () => {},
  });
  const body = JSON.stringify({ id: name, type: "x", created_at: "", test: true, data: {} });
  const timestampSeconds = Math.floor(Date.now() / 1000);
  const headers = await signedHeaders({ secret, eventId: name, body, timestampSeconds });
  const statuses = [];
  for (const text of [body, body, `${body} `]) {
    const url = `http://127.0.0.1:${port}/webhooks`;
    statuses.push((await fetch(url, { method: "POST", headers, body: text })).status);
  }
  await close();
  if (statuses.join() !== "204,204,400" || handled !== 1) {
    throw new Error(`${name} answered ${statuses} and handled the event ${handled} times`);
  }
}
console.log(
  `${Object.keys(startByName).join(", ")}: 204, 204 to the repetition, 400 to the forgery`,
);

async function serve(listener) {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = async () => {
    server.closeAllConnections();
    server.close();
  };
  return { port: server.address().port, close };
}

function nestModule(options) {
  const receive = createNestReceiver(options);
  class WebhookController {
    post(request, response) {
      return receive(request, response);
    }
  }
  const method = Object.getOwnPropertyDescriptor(WebhookController.prototype, "post");
  Controller("webhooks")(WebhookController);
  Post()(WebhookController.prototype, "post", method);
  Req()(WebhookController.prototype, "post", 0);
  Res()(WebhookController.prototype, "post", 1);
  class AppModule {}
  Module({ controllers: [WebhookController] })(AppModule);
  return AppModule;
}
