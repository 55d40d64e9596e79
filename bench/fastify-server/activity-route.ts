import type { FastifyInstance } from "fastify";
import type { Pool } from "mysql2/promise";
import { activityFromRow, PAGE_SCHEMA, PLATFORMS, TYPES } from "./activity-json.ts";
import { parseCursor, signCursor } from "./cursor.ts";
import { type ActivityRow, pageStatement } from "./page-query.ts";

type Query = { limit: number; order: "asc" | "desc" } & {
  [name in "type" | "platform" | "since" | "until" | "cursor"]?: string;
};

const TIME = "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d{1,6})?Z$";
const QUERY_SCHEMA = {
  type: "object",
  additionalProperties: false,
  properties: {
    limit: { type: "integer", minimum: 1, maximum: 100, default: 50 },
    order: { enum: ["asc", "desc"], default: "desc" },
    type: { enum: TYPES.slice(1) },
    platform: { enum: PLATFORMS.slice(1) },
    since: { type: "string", pattern: TIME },
    until: { type: "string", pattern: TIME },
    cursor: { type: "string", maxLength: 2048 },
  },
};

/** Serves `GET /api/v1/activity`. */
export function addActivityRoute(app: FastifyInstance, pool: Pool, cursorKey: Buffer): void {
  const schema = { querystring: QUERY_SCHEMA, response: { 200: PAGE_SCHEMA } };
  app.get<{ Querystring: Query }>("/api/v1/activity", { schema }, async (request) => {
    const { limit, order, type = "", platform = "", cursor } = request.query;
    const { account } = request;
    const [since, until] = [microsOf(request.query.since), microsOf(request.query.until)];
    const binding = [account.id, order, type, platform, since, until].join("|");
    const { sql, values } = pageStatement({
      ...{ accountNo: account.no, limit, ascending: order === "asc", since, until },
      type: Math.max(0, TYPES.indexOf(type)),
      platform: Math.max(0, PLATFORMS.indexOf(platform)),
      position: cursor === undefined ? undefined : parseCursor(cursorKey, binding, cursor),
    });
    const [rows] = await pool.execute<ActivityRow[]>(sql, values);
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    const next = last && signCursor(cursorKey, binding, last);
    return {
      data: page.map(activityFromRow),
      pagination: { has_more: rows.length > limit, next_cursor: next ?? cursor ?? null },
    };
  });
}

function microsOf(time: string | undefined): number | undefined {
  if (time === undefined) return undefined;
  const [seconds = "", fraction = ""] = time.slice(0, -1).split(".");
  return Date.parse(`${seconds}Z`) * 1000 + Number(fraction.padEnd(6, "0"));
}
