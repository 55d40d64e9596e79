export { deliver } from "./deliver.ts";
export { deliverTogether } from "./deliver-together.ts";
