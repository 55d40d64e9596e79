import { hasSystemCode, StackError } from "./stack-error.ts";

/** Throws a sentence with advice if the product cannot listen on a port or address. Rethrows other errors. */
export function failToListen(error: unknown): never {
  const port = error instanceof Error && "port" in error ? error.port : "";
  if (hasSystemCode(error, "EADDRINUSE")) {
    throw new StackError(
      `Port ${port} is taken by another program: end that one, or choose others, for example PORT=8081 CORE_PORT=50052 DASHBOARD_PORT=4181 npm start.`,
      { cause: error },
    );
  }
  if (hasSystemCode(error, "EACCES")) {
    throw new StackError(
      `This user may not open port ${port}: choose one above 1023 with PORT, CORE_PORT, DASHBOARD_PORT, HEALTH_PORT or METRICS_PORT.`,
      { cause: error },
    );
  }
  if (hasSystemCode(error, "EADDRNOTAVAIL", "ENOTFOUND")) {
    throw new StackError(
      "HOST, CORE_HOST, DASHBOARD_HOST, HEALTH_HOST or METRICS_HOST is no address of this machine: choose one that it has, such as 127.0.0.1 or 0.0.0.0.",
      { cause: error },
    );
  }
  throw error;
}
