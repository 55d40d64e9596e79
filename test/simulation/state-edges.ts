import { readFileSync } from "node:fs";
import { DeliveryState } from "../../server/src/dispatch/delivery-state.ts";

const ARCHITECTURE = new URL("../../ARCHITECTURE.md", import.meta.url);
const ROW = /^\| ([a-z ]+?) +\| ([a-z, ]*?) *\| (\w+) +\| .* \|$/gm;
const STATES = new Map(
  Object.entries(DeliveryState).map(([name, state]) => [name.toLowerCase(), state]),
);

/** Reads the edges between the states of a delivery from the table in ARCHITECTURE.md, each as `edgeName` names it. */
export function readStateEdges(): ReadonlySet<string> {
  const text = readFileSync(ARCHITECTURE, "utf8");
  const table = text.slice(
    text.indexOf("| Edge "),
    text.indexOf("`server/src/dispatch/delivery-state.ts` holds"),
  );
  const edges = [...table.matchAll(ROW)].flatMap(([, , from = "", to = ""]) =>
    statesOf(from).map((state) => edgeName(state, stateOf(to))),
  );
  if (edges.length < 10) throw new Error("ARCHITECTURE.md has no table of edges");
  return new Set(edges);
}

/** Names an edge. A new delivery has no state before. */
export function edgeName(from: DeliveryState | undefined, to: DeliveryState | undefined): string {
  return `${from ?? "none"} ${to}`;
}

function statesOf(cell: string): (DeliveryState | undefined)[] {
  const all = [...STATES.values()];
  if (cell.trim() === "") return [undefined];
  if (cell === "all but delivered") return all.filter((state) => state !== DeliveryState.Delivered);
  return cell.split(", ").map(stateOf);
}

function stateOf(name: string): DeliveryState {
  const state = STATES.get(name);
  if (state === undefined) throw new Error(`ARCHITECTURE.md names no state: ${name}`);
  return state;
}
