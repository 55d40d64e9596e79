import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./published.ts";

/** A package of others that the product is made of, as the lock file has it. */
export type ProductionPackage = {
  /** Where it is installed, from the root. */
  readonly path: string;
  readonly name: string;
  readonly version: string;
  /** An SPDX expression, or `none`. */
  readonly license: string;
  /** `sha512-` and the base64 of the tarball's hash. */
  readonly integrity: string | undefined;
  /** The paths of those that it needs itself. */
  readonly needs: readonly string[];
  /** Whether the product names it itself. */
  readonly isDirect: boolean;
};

/** The workspaces that the image installs packages for. */
const WORKSPACES = ["proto", "runtime", "server", "gateway", "workflows", "import"];

/** What the dashboard imports, which the page is built from: it reaches browsers, though no server installs it. */
export const BUILT_INTO_THE_PAGE = [
  "@bufbuild/protobuf",
  "@connectrpc/connect",
  "@connectrpc/connect-query",
  "@connectrpc/connect-web",
  "@tanstack/react-query",
  "react",
  "react-dom",
  "wouter",
];

/** Of packages whose package.json names no licence: read in their LICENSE. */
const READ_BY_US: Readonly<Record<string, string>> = { unionfs: "Unlicense" };

type Names = Readonly<Record<string, unknown>>;
type Locked = {
  readonly name?: string;
  readonly version?: string;
  readonly license?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly dependencies?: Names;
  readonly optionalDependencies?: Names;
  readonly peerDependencies?: Names;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
};

/** Lists what production installs, in their forms for every platform, and what the page is built from, by path. */
export function productionPackages(): readonly ProductionPackage[] {
  const { packages }: { packages: Readonly<Record<string, Locked>> } = JSON.parse(
    readFileSync(join(ROOT, "package-lock.json"), "utf8"),
  );
  const needsOf = (from: string) =>
    namesNeeded(packages[from] ?? {}).flatMap((name) => placeOf(packages, name, from) ?? []);
  const direct = [
    ...WORKSPACES.flatMap(needsOf),
    ...BUILT_INTO_THE_PAGE.flatMap((name) => placeOf(packages, name, "dashboard") ?? []),
  ];
  const found = new Set<string>();
  const waiting = [...direct];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (found.has(path)) continue;
    found.add(path);
    waiting.push(...needsOf(path));
  }
  return [...found].toSorted().map((path) => {
    const locked = packages[path] ?? {};
    const name = locked.name ?? path.slice(path.lastIndexOf("node_modules/") + 13);
    return {
      ...{ path, name, version: locked.version ?? "", integrity: locked.integrity },
      license: locked.license ?? READ_BY_US[name] ?? "none",
      needs: needsOf(path),
      isDirect: direct.includes(path),
    };
  });
}

/** The names of what a package needs, or takes where it is to be had; npm installs peers that are not optional. */
function namesNeeded(locked: Locked): string[] {
  const { dependencies, optionalDependencies, peerDependencies = {} } = locked;
  const peers = Object.keys(peerDependencies).filter(
    (name) => !locked.peerDependenciesMeta?.[name]?.optional,
  );
  return [...new Set([...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers])];
}

/** Where Node finds a package of others that is needed at `from`. */
function placeOf(
  packages: Readonly<Record<string, Locked>>,
  name: string,
  from: string,
): string | undefined {
  for (let at = from; ; at = at.slice(0, Math.max(at.lastIndexOf("/node_modules/"), 0))) {
    const path = at === "" ? `node_modules/${name}` : `${at}/node_modules/${name}`;
    if (packages[path] !== undefined) return packages[path].link ? undefined : path;
    if (at === "") return undefined;
  }
}
