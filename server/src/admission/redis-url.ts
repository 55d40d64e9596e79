/** The limiter's address: one server, or the nodes of a Redis Cluster. */
export type RedisAddress = {
  /** The servers' names or addresses, IPv6 without brackets. Without a host in the URL, this is `localhost`. */
  readonly hosts: readonly string[];
  readonly tls: boolean;
} & (
  | {
      readonly kind: "server";
      /** The scheme is in lower case, because ioredis uses TLS only for `rediss://` in lower case. */
      readonly url: string;
    }
  | {
      readonly kind: "cluster";
      /** Some of the cluster's nodes. They know the others. */
      readonly nodes: readonly RedisNode[];
      readonly username: string | undefined;
      readonly password: string | undefined;
    }
);

export type RedisNode = { readonly host: string; readonly port: number };

/** REDIS_URL is invalid. The message says what it must be, and shows nothing of its value. */
export class RedisUrlError extends Error {
  override readonly name = "RedisUrlError";
}

const DEFAULT_PORT = 6379;
/** Matches what follows the host if that is the rest of a password: it has a `#`, or an `@` before any `=`. */
const CUT = /#|^[^=]*@/;

/**
 * Parses `redis://` or `rediss://` for one server, and `redis-cluster://user:password@host:port?node=host:port` for
 * a Redis Cluster. `node` may repeat. `rediss-cluster://` is the same over TLS. Any other parameter is refused:
 * ioredis accepts all its options from a URL, also the one that turns TLS off. Throws RedisUrlError.
 */
export function parseRedisUrl(text: string): RedisAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const scheme = /^redis(s)?(-cluster)?:\/\//.exec(url?.href ?? "");
  // An unencoded /, ? or # in the password ends the host early, so `CUT` matches the rest.
  if (url === undefined || scheme === null || CUT.test(url.pathname + url.search + url.hash)) {
    throw new RedisUrlError(
      "REDIS_URL must be a URL that begins with redis:// or rediss://, or for a Redis Cluster with redis-cluster:// or rediss-cluster://, with further nodes as ?node=host:port&node=host:port. Percent-encode /, ? and # in user and password as %2F, %3F and %23.",
    );
  }
  const [, secure, cluster] = scheme;
  const tls = secure !== undefined;
  const credentials = { username: decode(url.username), password: decode(url.password) };
  if (cluster === undefined) {
    if (url.search !== "" || !/^\/?\d*$/.test(url.pathname)) {
      throw new RedisUrlError(
        "REDIS_URL of one server takes no parameters, and as its path only the number of a database.",
      );
    }
    return { kind: "server", url: url.href, hosts: [nodeOf(url).host], tls };
  }
  if (url.hostname === "" || !["", "/", "/0"].includes(url.pathname)) {
    throw new RedisUrlError(
      "REDIS_URL of a Redis Cluster needs the host of a node, and no path: a cluster has only database 0.",
    );
  }
  if ([...url.searchParams.keys()].some((name) => name !== "node")) {
    throw new RedisUrlError("REDIS_URL of a Redis Cluster takes only the parameter node.");
  }
  const nodes = [nodeOf(url), ...url.searchParams.getAll("node").map(parseNode)];
  return {
    kind: "cluster",
    nodes,
    hosts: nodes.map(({ host }) => host),
    ...credentials,
    tls,
  };
}

function parseNode(text: string): RedisNode {
  const written = `redis://${text}`;
  const url = URL.canParse(written) ? new URL(written) : undefined;
  if (url === undefined || url.hostname === "" || url.host !== text) {
    throw new RedisUrlError("Each node of REDIS_URL must be only host:port or host.");
  }
  return nodeOf(url);
}

function nodeOf({ hostname, port }: URL): RedisNode {
  const host = hostname.replace(/^\[|\]$/g, "") || "localhost";
  return { host, port: Number(port || DEFAULT_PORT) };
}

function decode(part: string): string | undefined {
  if (part === "") return undefined;
  try {
    return decodeURIComponent(part);
  } catch {
    throw new RedisUrlError(
      "The user and password of REDIS_URL must be percent-encoded, a percent sign as %25.",
    );
  }
}
