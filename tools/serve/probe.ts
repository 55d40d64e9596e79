// Ends with status 0 when the process at a health port of this machine serves, and with 1 when it does not. Container
// engines ask by such a command.
//
//   node tools/serve/probe.ts 8081

const TIMEOUT_MS = 4_000;
const [port] = process.argv.slice(2);

try {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const { ok } = await fetch(`http://127.0.0.1:${port}/ready`, { signal });
  process.exitCode = ok ? 0 : 1;
} catch (error) {
  process.stderr.write(`${error}\n`);
  process.exitCode = 1;
}
