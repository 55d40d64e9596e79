import { Resolver } from "node:dns/promises";
import { isIP } from "node:net";

/** Finds every address of a name, in the order to try. Rejects if it finds none. */
export type ResolveName = (name: string) => Promise<readonly string[]>;

/** A name did not resolve. The error holds the resolver's code and nothing else. */
export class NameNotFoundError extends Error {
  override readonly name = "NameNotFoundError";
  readonly code: string;

  constructor(code: string) {
    super(`the name did not resolve (${code})`);
    this.code = code;
  }
}

/**
 * How long one family's query may take once the other has found addresses: long enough for a second try. Without this
 * limit, servers that never answer AAAA would use up the attempt's ten seconds.
 */
const OTHER_FAMILY_MS = 3_000;

/**
 * If c-ares gives up sooner than this, a new resolver is asked, which waits longer. c-ares waits five times as long as
 * its servers took before. So after quick answers it gives up on a slow name within a second.
 */
const GAVE_UP_SOON_MS = 4_000;

/** The codes of a query that reached no server, or only servers that refuse us. They say nothing about the name. */
const UNREACHED: ReadonlySet<string> = new Set(["ECONNREFUSED", "ETIMEOUT", "EREFUSED"]);

/**
 * The codes of a server that cannot answer. Node's c-ares then asks no other server. So this module does, as the
 * system's resolver would.
 */
const UNANSWERED: ReadonlySet<string> = new Set(["ESERVFAIL", "EREFUSED", "ENOTIMP"]);

/**
 * Creates a resolver that asks the system's DNS servers for A and AAAA records.
 *
 * It does not use `dns.lookup`, which blocks one of the process's four threads. A few names whose servers never answer
 * would then delay all look-ups. The resolver also ignores the hosts file, which names no public server.
 */
export function createNameResolver(servers?: readonly string[]): ResolveName {
  let resolver: Resolver | undefined;
  return async (name) => {
    resolver ??= openResolver(servers);
    const asked = resolver;
    const beganMs = performance.now();
    let answers = await ask(asked, name);
    const [ipv4, ipv6] = answers.map(codeOf);
    // An IPv6 address alone is of no use on many hosts, so IPv4 is asked for again even if IPv6 answered.
    const isWorthAsking =
      ipv4 === "ETIMEOUT" || (ipv6 === "ETIMEOUT" && addressesIn(answers).length === 0);
    if (isWorthAsking && performance.now() - beganMs < GAVE_UP_SOON_MS) {
      // An address that only the first query found still counts: it may be unsafe.
      answers = [...(await ask(openResolver(servers), name)), ...answers];
    }
    const isUnanswered = answers.slice(0, 2).some((answer) => UNANSWERED.has(codeOf(answer)));
    for (const server of isUnanswered ? asked.getServers().slice(1) : []) {
      if (addressesIn(answers).length > 0) break;
      answers = [...(await ask(openResolver([server]), name)), ...answers];
    }
    const addresses = addressesIn(answers);
    if (addresses.length > 0) return addresses;
    const codes = answers.map(codeOf);
    // A resolver keeps the servers that the system had when it was created. After a change of networks they may be
    // wrong, so the next look-up creates a resolver with the current ones.
    const isUnreached = codes.every((code) => UNREACHED.has(code));
    if (isUnreached && resolver === asked) resolver = undefined;
    throw new NameNotFoundError(mostTelling(codes));
  };
}

type Answers = readonly PromiseSettledResult<readonly string[]>[];

const ask = (resolver: Resolver, name: string): Promise<Answers> =>
  bothFamilies(resolver.resolve4(name), resolver.resolve6(name));

const addressesIn = (answers: Answers) => [
  ...new Set(answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []))),
];

function openResolver(servers?: readonly string[]): Resolver {
  const resolver = new Resolver({ timeout: 2_000, tries: 2, maxTimeout: 3_000 });
  if (servers) resolver.setServers([...servers]);
  return resolver;
}

/** Waits for both queries. Once one has found addresses, the other gets `OTHER_FAMILY_MS`. */
async function bothFamilies(...queries: readonly Promise<readonly string[]>[]): Promise<Answers> {
  const late = Promise.withResolvers<readonly string[]>();
  let timer: NodeJS.Timeout | undefined;
  const addressesOf = async (query: Promise<readonly string[]>) => {
    // A late query is ignored, not canceled: a resolver can only cancel all its queries.
    const records = await Promise.race([query, late.promise]);
    const addresses = records.filter((address) => isIP(address) !== 0);
    if (addresses.length > 0) timer ??= setTimeout(() => late.resolve([]), OTHER_FAMILY_MS);
    return addresses;
  };
  const answers = await Promise.allSettled(queries.map(addressesOf));
  clearTimeout(timer);
  return answers;
}

function codeOf(answer: PromiseSettledResult<unknown>): string {
  if (answer.status === "fulfilled") return "ENODATA";
  const { code } = answer.reason as { code?: unknown }; // Errors of c-ares always have a code.
  return typeof code === "string" ? code : "EDNS";
}

/**
 * Returns the code that says most: any other code before those of `UNREACHED`, and ENODATA last. If a name has
 * addresses of one family only, the query for the other returns ENODATA.
 */
function mostTelling(codes: readonly string[]): string {
  const telling = codes.filter((code) => code !== "ENODATA");
  return telling.find((code) => !UNREACHED.has(code)) ?? telling[0] ?? "ENODATA";
}
