import { readdir, readFile } from "node:fs/promises";
import type { Profiler } from "node:inspector";
import { join } from "node:path";

type Node = Profiler.ProfileNode;
type Frame = Node["callFrame"];

/** Lines of each table. */
const TOP = 25;

/** Sums the CPU profiles in a folder up as Markdown: where each process spent its time itself. */
export async function summarizeProfiles(
  folder: string,
  title = "Self time, start and warm-up included",
): Promise<string> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".cpuprofile")).sort();
  const sections: string[] = [];
  for (const name of names) {
    const profile: Profiler.Profile = JSON.parse(await readFile(join(folder, name), "utf8"));
    sections.push(`## ${name.replace(".cpuprofile", "")}\n\n${summarize(profile)}`);
  }
  return `# Where the time goes\n\n${title}, without idle time.\n\n${sections.join("\n")}`;
}

function summarize({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): string {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const callers = new Map(
    nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node.callFrame])),
  );
  const [byPart, byFunction] = [new Map<string, number>(), new Map<string, number>()];
  let busy = 0;
  for (const [index, id] of samples.entries()) {
    const frame = byId.get(id)?.callFrame;
    if (frame === undefined || frame.functionName === "(idle)") continue;
    const micros = timeDeltas[index] ?? 0;
    busy += micros;
    const [part, name] = [partOf(frame), nameOf(frame, callers.get(id))];
    byPart.set(part, (byPart.get(part) ?? 0) + micros);
    byFunction.set(name, (byFunction.get(name) ?? 0) + micros);
  }
  return `${lines(byPart, busy)}\n\n${lines(byFunction, busy)}\n`;
}

/** The package a frame belongs to, the folder of ours, or what the engine calls itself. */
function partOf({ functionName, url }: Frame): string {
  if (url === "") return functionName.startsWith("(") ? functionName : "(native)";
  if (url.startsWith("node:")) return url.split("/")[0] ?? url;
  const inModules = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1];
  return (
    inModules ?? /.*\/(runtime|server|gateway|workflows|proto|bench|tools)\//.exec(url)?.[1] ?? url
  );
}

/** What is built into Node says little by itself: it is named with its caller. */
function nameOf({ functionName, url, lineNumber }: Frame, caller?: Frame): string {
  const name = functionName || "(anonymous)";
  if (url !== "") return `${name} ${url.split("/").slice(-2).join("/")}:${lineNumber + 1}`;
  return caller && caller.url !== "" ? `${name} called by ${nameOf(caller)}` : name;
}

function lines(sums: ReadonlyMap<string, number>, busy: number): string {
  return [...sums]
    .sort(([, one], [, other]) => other - one)
    .slice(0, TOP)
    .map(([name, micros]) => `- ${((100 * micros) / busy).toFixed(1)} % ${name}`)
    .join("\n");
}
