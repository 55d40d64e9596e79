import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

type CpuProfile = {
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
};
type Frame = ProfileNode["callFrame"];
type ProfileNode = {
  readonly id: number;
  readonly callFrame: {
    readonly functionName: string;
    readonly url: string;
    readonly lineNumber: number;
  };
  readonly children?: readonly number[];
};

/** Lines of each table. */
const TOP = 25;
const IDLE = "(idle)";

/** Sums the CPU profiles in a folder up as Markdown: where each process spent its time itself. */
export async function summarizeProfiles(
  folder: string,
  title = "Self time, start and warm-up included",
): Promise<string> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".cpuprofile")).sort();
  const sections: string[] = [];
  for (const name of names) {
    const profile: CpuProfile = JSON.parse(await readFile(join(folder, name), "utf8"));
    sections.push(`## ${name.replace(".cpuprofile", "")}\n\n${summarize(profile)}`);
  }
  return `# Where the time goes\n\n${title}, without idle time.\n\n${sections.join("\n")}`;
}

function summarize({ nodes, samples, timeDeltas }: CpuProfile): string {
  const frames = new Map(nodes.map((node) => [node.id, node.callFrame]));
  const parents = new Map(
    nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])),
  );
  const byPart = new Map<string, number>();
  const byFunction = new Map<string, number>();
  let busy = 0;
  for (const [index, id] of samples.entries()) {
    const frame = frames.get(id);
    const micros = timeDeltas[index] ?? 0;
    if (frame === undefined || frame.functionName === IDLE) continue;
    busy += micros;
    add(byPart, partOf(frame), micros);
    const caller = frames.get(parents.get(id) ?? 0);
    add(byFunction, frame.url === "" ? nameWithCaller(frame, caller) : nameOf(frame), micros);
  }
  return `${lines(byPart, busy)}\n\n${lines(byFunction, busy)}\n`;
}

function add(sums: Map<string, number>, name: string, micros: number): void {
  sums.set(name, (sums.get(name) ?? 0) + micros);
}

/** The package a frame belongs to, the folder of ours, or what the engine calls itself. */
function partOf({ functionName, url }: Frame): string {
  if (url === "") return functionName.startsWith("(") ? functionName : "(native)";
  if (url.startsWith("node:")) return url.split("/")[0] ?? url;
  const inModules = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1];
  if (inModules !== undefined) return inModules;
  return /.*\/(server|gateway|workflows|proto|bench|tools)\//.exec(url)?.[1] ?? url;
}

/** What is built into Node says little by itself. */
function nameWithCaller(frame: Frame, caller: Frame | undefined): string {
  return caller === undefined || caller.url === ""
    ? nameOf(frame)
    : `${nameOf(frame)} called by ${nameOf(caller)}`;
}

function nameOf(frame: Frame): string {
  return `${frame.functionName || "(anonymous)"} ${placeOf(frame)}`.trimEnd();
}

function placeOf({ url, lineNumber }: Frame): string {
  if (url === "") return "";
  return `${url.split("/").slice(-2).join("/")}:${lineNumber + 1}`;
}

function lines(sums: Map<string, number>, busy: number): string {
  return [...sums]
    .sort(([, one], [, other]) => other - one)
    .slice(0, TOP)
    .map(([name, micros]) => `- ${((100 * micros) / busy).toFixed(1)} % ${name}`)
    .join("\n");
}
