import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./published.ts";

/** A third-party package of the product, from the lock file. */
export type ProductionPackage = {
  /** Its folder, relative to the root. */
  readonly path: string;
  readonly name: string;
  readonly version: string;
  /** An SPDX expression, or `none`. */
  readonly license: string;
  /** `sha512-` and the base64 of the tarball's hash. */
  readonly integrity: string | undefined;
  /** The paths of its direct dependencies. */
  readonly needs: readonly string[];
  /** Whether the product depends on it directly. */
  readonly isDirect: boolean;
};

/** The workspaces whose packages the image installs. */
const WORKSPACES = ["proto", "runtime", "server", "gateway", "workflows", "import"];

/** The packages that the dashboard's page is built from. They reach browsers even if no server installs them. */
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

/** The licences of packages that name none in package.json. We read them in the LICENSE files of the packages. */
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

/**
 * Lists, by path, the packages that production installs on any platform, and the packages that are built into the page.
 */
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

/**
 * Returns the names of a package's dependencies, including optional ones. npm also installs peers that are not
 * optional.
 */
function namesNeeded(locked: Locked): string[] {
  const { dependencies, optionalDependencies, peerDependencies = {} } = locked;
  const peers = Object.keys(peerDependencies).filter(
    (name) => !locked.peerDependenciesMeta?.[name]?.optional,
  );
  return [...new Set([...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers])];
}

/** Returns where Node finds a third-party package that `from` imports. */
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
