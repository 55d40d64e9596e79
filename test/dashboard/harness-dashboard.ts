import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as proto from "@activity/proto";
import {
  create,
  type DescMethod,
  fromBinary,
  type MessageInitShape,
  toJsonString,
} from "@bufbuild/protobuf";
import { base64Decode } from "@bufbuild/protobuf/wire";
import { findFreePort } from "../../dev-stack/src/free-port.ts";
import { requestOf } from "../harness/http.ts";
import { startTestStack, withClientAddress } from "../harness/stack.ts";

/** Every session scope, from the enum's descriptor, without the unspecified one. */
export const EVERYTHING = proto.SessionScopeSchema.values
  .slice(1)
  .map(({ number }) => number as proto.SessionScope);

type Headers = Readonly<Record<string, string>>;

/** A browser that keeps its last cookie. */
export type Browser = ReturnType<Awaited<ReturnType<typeof startDashboard>>["browser"]>;

/** The two files of the page in tests. */
export const PAGE = {
  index: "<!doctype html><title>page</title>",
  script: "export {};".repeat(99),
};

/**
 * Starts the product with a dashboard. `env` adds variables of its core; `serverUrl` names another database server.
 */
export async function startDashboard(env: Headers = {}, serverUrl?: string) {
  const port = await findFreePort();
  const own = `http://localhost:${port}`;
  const origin = env.DASHBOARD_URL ?? own;
  const folder = mkdtempSync(join(tmpdir(), "activity-page-"));
  mkdirSync(join(folder, "assets"));
  writeFileSync(join(folder, "index.html"), PAGE.index);
  writeFileSync(join(folder, "assets", "app-0a1b2c3d.js"), PAGE.script);
  writeFileSync(join(folder, "assets", "app-0a1b2c3d.js.map"), "{}");
  const stack = await startTestStack({
    ...(serverUrl !== undefined && { serverUrl }),
    env: {
      ...{ DASHBOARD_PORT: `${port}`, DASHBOARD_URL: own, DASHBOARD_FILES: folder },
      ...{ TRUSTED_PROXIES: "127.0.0.1/32", ...env },
    },
  });
  /** Sends a request to the browsers' port, from its own client address unless it names one. */
  async function request(method: string, path: string, headers: Headers = {}, body?: string) {
    const sent = withClientAddress({ method, headers, ...(body !== undefined && { body }) });
    const answer = await requestOf(port, path, sent);
    return { ...answer, code: codeIn(answer.text) };
  }

  function browser() {
    return {
      cookie: undefined as string | undefined,
      /** Makes a call as the dashboard's page does. Leaves out headers with an empty value. */
      async call<Method extends DescMethod>(
        method: Method,
        message?: MessageInitShape<Method["input"]>,
        headers: Headers = {},
      ) {
        const all = {
          ...{ origin, "sec-fetch-site": "same-origin", "connect-protocol-version": "1" },
          ...{ "content-type": "application/json", cookie: this.cookie ?? "", ...headers },
        };
        const shown = Object.entries(all).filter(([, value]) => value !== "");
        const path = `/${method.parent.typeName}/${method.name}`;
        const body = toJsonString(method.input, create(method.input, message as never));
        const answer = await request("POST", path, Object.fromEntries(shown), body);
        const [cookie] = answer.setCookie;
        if (cookie !== undefined) this.cookie = cookie.split(";", 1)[0];
        return answer;
      },
    };
  }

  /** Requests a link as an internal service does. Returns its code. */
  async function code(accountId: string, scopes: readonly proto.SessionScope[] = EVERYTHING) {
    const links = stack.client(proto.SessionService);
    const { url } = await links.createSessionLink({ accountId, scopes: [...scopes] });
    return new URL(url).hash.slice("#code=".length);
  }

  return {
    ...{ stack, origin, port, request, code, browser },
    async signIn(accountId: string, scopes?: readonly proto.SessionScope[]) {
      const own = browser();
      const { exchangeCode } = proto.SessionService.method;
      const { status } = await own.call(exchangeCode, { code: await code(accountId, scopes) });
      if (status !== 200) throw new Error(`the exchange failed with ${status}`);
      return own;
    },
    async stop() {
      await stack.stop();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Returns the error code in the details of a failure. */
function codeIn(text: string): string | undefined {
  if (!text.startsWith("{")) return undefined;
  const { details }: { details?: { type: string; value: string }[] } = JSON.parse(text);
  const info = details?.find(({ type }) => type === proto.ErrorInfoSchema.typeName);
  return info && fromBinary(proto.ErrorInfoSchema, base64Decode(info.value)).code;
}
