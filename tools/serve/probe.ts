// Exits with 0 if the process at this health port serves, otherwise with 1. Container engines use it as a health
// check.
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
