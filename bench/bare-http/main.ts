import { createServer } from "node:http";

/** Answers every request with as many bytes as its path names, and does nothing else. */
function main(): void {
  const bodies = new Map<string, Buffer>();
  const server = createServer({ noDelay: true, keepAliveTimeout: 65_000 }, (request, response) => {
    const { url = "" } = request;
    let body = bodies.get(url);
    if (body === undefined) {
      body = Buffer.alloc(Number(url.slice(1)), "x");
      bodies.set(url, body);
    }
    response.writeHead(200, ["Content-Length", String(body.length)]);
    response.end(body);
  });
  server.listen(Number(process.env.PORT), "127.0.0.1");
  const stop = () => {
    server.close();
    server.closeAllConnections();
  };
  process.once("SIGINT", stop);
  process.once("SIGTERM", stop);
}

main();
