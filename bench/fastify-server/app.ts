import { randomUUID } from "node:crypto";
import Fastify, { type FastifyInstance } from "fastify";
import mysql from "mysql2/promise";
import pino from "pino";
import { addActivityRoute } from "./activity-route.ts";
import { addAdmission } from "./admission.ts";
import { ApiError, errorBody } from "./api-error.ts";
import { createLimits } from "./limits.ts";

export type Settings = {
  readonly databaseUrl: string;
  /** Where requests are counted; in the database when it is not given. */
  readonly redisUrl: string | undefined;
  readonly cursorKey: Buffer;
};

/** As the product's. */
const CONNECTIONS = 10;
const LOG_BUFFER_BYTES = 4096;

/**
 * The read API as a good engineer would write it in an afternoon with Fastify, mysql2 and
 * rate-limiter-flexible: the bar for the product. It is tuned, and leaves nothing out that costs time.
 */
export async function createApp(settings: Settings): Promise<FastifyInstance> {
  const logStream = pino.destination({ sync: false, minLength: LOG_BUFFER_BYTES });
  const app = Fastify({
    trustProxy: "127.0.0.1",
    // One line a request, gathered before they are written, as the product does.
    logger: { stream: logStream },
    disableRequestLogging: true,
    genReqId: () => randomUUID(),
    ajv: { customOptions: { removeAdditional: false } },
  });
  const pool = mysql.createPool({
    uri: settings.databaseUrl,
    charset: "utf8mb4_bin",
    timezone: "Z",
    supportBigNumbers: true,
    connectionLimit: CONNECTIONS,
    maxPreparedStatements: 200,
  });
  const limits = await createLimits(settings);

  app.addHook("onSend", async (request, reply) => {
    reply.headers({
      "x-request-id": request.id,
      "cache-control": "private, no-store",
      "x-content-type-options": "nosniff",
    });
  });
  app.addHook("onResponse", async (request, reply) => {
    const { method, routeOptions } = request;
    const fields = { method, path: routeOptions.url, status: reply.statusCode };
    request.log.info({ ...fields, ms: Math.round(reply.elapsedTime * 10) / 10 }, "request");
  });
  app.addHook("onClose", async () => {
    await Promise.all([limits.close(), pool.end()]);
  });
  app.setErrorHandler((error: Error & { validation?: unknown }, request, reply) => {
    const known = ApiError.from(error);
    if (known.status === 500) request.log.error(error);
    if (known.status === 429 || known.status === 503) reply.header("retry-after", "60");
    if (known.status === 401) reply.header("www-authenticate", "Bearer");
    reply.code(known.status).send(errorBody(known, request.id));
  });
  app.setNotFoundHandler((request, reply) => {
    const error = new ApiError(404, "not_found", "There is nothing at this path.");
    reply.code(404).send(errorBody(error, request.id));
  });

  addAdmission(app, pool, limits);
  addActivityRoute(app, pool, settings.cursorKey);
  return app;
}
