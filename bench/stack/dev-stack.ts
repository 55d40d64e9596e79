/** Everything that the benches use of dev-stack. */
export { baseEnv } from "../../dev-stack/src/base-env.ts";
export { buildDashboard } from "../../dev-stack/src/build-dashboard.ts";
export { cacheFolder } from "../../dev-stack/src/cache-folder.ts";
export { createDashboardLink } from "../../dev-stack/src/dashboard-link.ts";
export { type RunningDatabase, startDatabase } from "../../dev-stack/src/database.ts";
export { type Clients, createClients } from "../../dev-stack/src/demo.ts";
export { findChromium } from "../../dev-stack/src/find-chromium.ts";
export { findFreePort } from "../../dev-stack/src/free-port.ts";
export { createProgress, type Progress } from "../../dev-stack/src/progress.ts";
export { startRedis } from "../../dev-stack/src/redis.ts";
export { makeSelfSigned } from "../../dev-stack/src/self-signed.ts";
export { StackError } from "../../dev-stack/src/stack-error.ts";
export { startTemporal } from "../../dev-stack/src/temporal.ts";
