import { createServer } from "node:http";

/** Answers every request with as many bytes as its path names, and does nothing else. */
const bodies = new Map<string, Buffer>();
const server = createServer(
  { noDelay: true, keepAliveTimeout: 65_000 },
  ({ url = "" }, response) => {
    const body = bodies.get(url) ?? Buffer.alloc(Number(url.slice(1)), "x");
    bodies.set(url, body);
    response.writeHead(200, ["Content-Length", String(body.length)]);
    response.end(body);
  },
);
server.listen(Number(process.env.PORT), "127.0.0.1");
process.once("SIGTERM", () => process.exit());
