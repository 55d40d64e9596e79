import { fileURLToPath } from "node:url";
import { startWorker, type Worker } from "../../load/jobs.ts";
import { PRODUCT_FLAGS } from "../../sides/served-process.ts";
import type { ProductAnswer, ProductJob } from "./product-worker.ts";

/** The product's process, whether the product runs in it or not. */
export type ProductWorker = Worker<ProductJob, ProductAnswer>;

const FILE = fileURLToPath(new URL("./product-worker.ts", import.meta.url));

/** Starts a process in which the whole product can run. */
export const startProductWorker = (): ProductWorker => startWorker(FILE, PRODUCT_FLAGS);
