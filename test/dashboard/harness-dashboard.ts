import { randomInt } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  ErrorInfoSchema,
  type SessionScope,
  SessionScopeSchema,
  SessionService,
} from "@activity/proto";
import {
  create,
  type DescMessage,
  type DescMethod,
  fromBinary,
  type MessageInitShape,
  toJsonString,
} from "@bufbuild/protobuf";
import { base64Decode } from "@bufbuild/protobuf/wire";
import { findFreePort } from "../../dev-stack/src/free-port.ts";
import { startTestStack, type TestStack } from "../harness/stack.ts";

/** All that a session may be allowed: the numbers of the enum's own descriptor, but for the unspecified one. */
export const EVERYTHING = SessionScopeSchema.values
  .slice(1)
  .map(({ number }) => number as SessionScope);

/** An answer of the browsers' port. */
export type BrowserAnswer = {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly text: string;
  /** The code of the error catalogue, where it is a failure that has one. */
  readonly code: string | undefined;
};

type Headers = Readonly<Record<string, string>>;

/** A browser, with the cookie that it was given last. */
export type Browser = {
  cookie: string | undefined;
  /** Makes a call as the dashboard's page does; a header that is empty is left out. */
  call<Method extends DescMethod>(
    method: Method,
    message?: MessageInitShape<Method["input"]>,
    headers?: Headers,
  ): Promise<BrowserAnswer>;
};

/** The product with a dashboard whose page is two small files. */
export type Dashboard = {
  readonly stack: TestStack;
  readonly origin: string;
  readonly port: number;
  request(method: string, path: string, headers?: Headers, body?: string): Promise<BrowserAnswer>;
  /** Asks for a link as an internal service does, and returns its code. */
  code(accountId: string, scopes?: readonly SessionScope[]): Promise<string>;
  browser(): Browser;
  signIn(accountId: string, scopes?: readonly SessionScope[]): Promise<Browser>;
  stop(): Promise<void>;
};

/** The built page of the tests. */
export const PAGE = {
  index: "<!doctype html><title>page</title>",
  script: "export {};".repeat(99),
};

/** Starts the product with a dashboard; `env` holds further variables of its core, `serverUrl` names another database server. */
export async function startDashboard(env: Headers = {}, serverUrl?: string): Promise<Dashboard> {
  const port = await findFreePort();
  const origin = `http://localhost:${port}`;
  const folder = mkdtempSync(join(tmpdir(), "activity-page-"));
  mkdirSync(join(folder, "assets"));
  writeFileSync(join(folder, "index.html"), PAGE.index);
  writeFileSync(join(folder, "assets", "app-0a1b2c3d.js"), PAGE.script);
  writeFileSync(join(folder, "assets", "app-0a1b2c3d.js.map"), "{}");
  const stack = await startTestStack({
    ...(serverUrl !== undefined && { serverUrl }),
    env: {
      DASHBOARD_PORT: `${port}`,
      DASHBOARD_URL: origin,
      DASHBOARD_FILES: folder,
      TRUSTED_PROXIES: "127.0.0.1/32",
      ...env,
    },
  });
  const at = env.DASHBOARD_URL ?? origin;
  const request: Dashboard["request"] = (method, path, headers, body) =>
    send(port, method, path, { "x-forwarded-for": randomAddress(), ...headers }, body);

  const dashboard: Dashboard = {
    stack,
    origin: at,
    port,
    request,
    async code(accountId, scopes = EVERYTHING) {
      const links = stack.client(SessionService);
      const { url } = await links.createSessionLink({ accountId, scopes: [...scopes] });
      return new URL(url).hash.slice("#code=".length);
    },
    browser() {
      const browser: Browser = {
        cookie: undefined,
        async call(method, message, headers = {}) {
          const all = {
            origin: at,
            "sec-fetch-site": "same-origin",
            "connect-protocol-version": "1",
            "content-type": "application/json",
            cookie: browser.cookie ?? "",
            ...headers,
          };
          const shown = Object.entries(all).filter(([, value]) => value !== "");
          const path = `/${method.parent.typeName}/${method.name}`;
          const body = jsonOf(method.input, message);
          const answer = await request("POST", path, Object.fromEntries(shown), body);
          const [cookie] = answer.headers["set-cookie"] ?? [];
          if (cookie !== undefined) browser.cookie = cookie.split(";", 1)[0];
          return answer;
        },
      };
      return browser;
    },
    async signIn(accountId, scopes) {
      const browser = dashboard.browser();
      const code = await dashboard.code(accountId, scopes);
      const { status } = await browser.call(SessionService.method.exchangeCode, { code });
      if (status !== 200) throw new Error(`the exchange failed with ${status}`);
      return browser;
    },
    async stop() {
      await stack.stop();
      rmSync(folder, { recursive: true });
    },
  };
  return dashboard;
}

function jsonOf<Schema extends DescMessage>(schema: Schema, message?: MessageInitShape<Schema>) {
  return toJsonString(schema, create(schema, message));
}

/** Each request comes from a client address of its own, unless it names one. */
function randomAddress(): string {
  return `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`;
}

function send(
  port: number,
  method: string,
  path: string,
  headers: Headers,
  body: string | undefined,
): Promise<BrowserAnswer> {
  return new Promise((resolve, reject) => {
    const outgoing = http.request({ host: "127.0.0.1", port, path, method, headers });
    outgoing.on("error", reject);
    outgoing.on("response", async (incoming) => {
      const chunks: Buffer[] = await incoming.toArray();
      const bytes = Buffer.concat(chunks);
      const text = bytes.toString("utf8");
      const { statusCode: status = 0, headers } = incoming;
      resolve({ status, headers, bytes, text, code: codeIn(text) });
    });
    outgoing.end(body);
  });
}

/** Reads the code that stands in the details of a failure. */
function codeIn(text: string): string | undefined {
  if (!text.startsWith("{")) return undefined;
  const { details }: { details?: { type: string; value: string }[] } = JSON.parse(text);
  const info = details?.find(({ type }) => type === ErrorInfoSchema.typeName);
  return info && fromBinary(ErrorInfoSchema, base64Decode(info.value)).code;
}
