import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { ErrorCode } from "../../server/src/common/errors.ts";
import {
  type ImportStatement,
  importsOf,
  namesIn,
  productFiles,
  ROOT,
  readText,
  sourceFiles,
} from "./import-rule.ts";

const PACKAGES = ["proto", "runtime", "server", "gateway", "workflows", "dashboard", "import"];
/** Published packages without dependencies. They have their own import rules. */
const KITS = ["receiver-kit", "feed"];
/** `npm start` runs these source files, because the published entries of the kits need a build. */
const RUN_AS_SOURCE = ["feed/src/hub/index.ts", "receiver-kit/src/index.ts"];
const ALL = [...PACKAGES, ...KITS];

const product = productFiles(...PACKAGES).flatMap(importsOf);
const kits = productFiles(...KITS.map((name) => `${name}/src`)).flatMap(importsOf);

const show = (statements: readonly ImportStatement[]) =>
  statements.map(({ file, target }) => `${file} imports ${target}`);

/** Reads from the table in ARCHITECTURE.md which packages each package may import. */
function allowedImports(): Map<string, Set<string>> {
  const rows = [...readText("ARCHITECTURE.md").matchAll(/^\| `(\w[\w-]*)` *\| (.*?) *\|/gm)];
  return new Map(
    rows.map(([, name = "", list = ""]) => [name, new Set(namesIn(list, /`([\w-]+)`/g))]),
  );
}

function foldersOf(file: string): string[] {
  const folder = dirname(file);
  return folder === "." ? [] : [folder, ...foldersOf(folder)];
}

describe("the import rule", () => {
  it("lets packages import each other only as the table in ARCHITECTURE.md says", () => {
    const allowed = allowedImports();
    expect([...allowed.keys()]).toEqual(expect.arrayContaining(ALL));
    const broken = [...product, ...kits].filter(({ file, target }) => {
      const from = file.split("/")[0] ?? "";
      const to = target.startsWith("@activity/") ? target.split("/")[1] : target.split("/")[0];
      const isOwn =
        to === from || ![...ALL, "test", "tools", "dev-stack", "bench"].includes(to ?? "");
      return !isOwn && !allowed.get(from)?.has(to ?? "");
    });
    expect(show(broken)).toEqual([]);
  });

  it("enters a package through its exports", () => {
    const deep = [
      ...product,
      ...["tools", "dev-stack"].flatMap(sourceFiles).flatMap(importsOf),
    ].filter(({ target, file }) => {
      const [first = ""] = target.split("/");
      // A kit's package name can equal its folder's name, but only a path inside the folder ends with `.ts`.
      const isInside = PACKAGES.includes(first) || (KITS.includes(first) && target.endsWith(".ts"));
      return isInside && !file.startsWith(`${first}/`) && !RUN_AS_SOURCE.includes(target);
    });
    expect(show(deep)).toEqual([]);
  });

  it.each([
    [/^mysql2/, /^server\/src\/(database\/|.*-store\.ts$)/],
    [/^ioredis$/, /-store\.ts$/],
    [/^@temporalio\//, /^workflows\//],
    [
      /^node:http2?$/,
      /^(gateway\/src\/|server\/src\/rpc\/|runtime\/src\/(core-transport|unary-transport|metrics-listener|health|unsent-answers)\.ts|workflows\/src\/http\/egress-proxy\.ts)/,
    ],
    [/^@opentelemetry\//, /^runtime\/src\/traces-/],
    [/^prom-client$/, /^runtime\/src\/metrics-/],
  ])("allows imports of %s only in %s", (imported, allowed) => {
    const broken = product.filter(
      ({ file, target }) => imported.test(target) && !allowed.test(file),
    );
    expect(show(broken)).toEqual([]);
  });

  it("has no cycles between the folders of a package", () => {
    const edges = product
      .filter(({ file, target }) => target.startsWith(`${file.split("/")[0]}/src/`))
      .map(({ file, target }) => ({ from: dirname(file), to: dirname(target) }))
      .filter(({ from, to }) => from !== to);
    expect(edges.length).toBeGreaterThan(100);
    // A folder without imports among the remaining edges is in no cycle. Remove such folders until none is left.
    let left = edges;
    for (let before = Number.POSITIVE_INFINITY; left.length < before; ) {
      before = left.length;
      const importing = new Set(left.map(({ from }) => from));
      left = left.filter(({ to }) => importing.has(to));
    }
    expect([...new Set(left.map(({ from, to }) => `${from} → ${to}`))]).toEqual([]);
  });

  it("reads process.env in main.ts only, and the wall clock in clock.ts only", () => {
    const filesWith = (pattern: RegExp, allowed: string) =>
      productFiles(...PACKAGES).filter(
        (file) => pattern.test(readText(file)) && !file.endsWith(allowed),
      );
    expect(filesWith(/process\.env/, "/main.ts")).toEqual([]);
    expect(filesWith(/\bDate\.now\(|new Date\(\)/, "/clock.ts")).toEqual([]);
  });
});

describe("the documents", () => {
  const configuration = readText("docs/configuration.md");
  const code = productFiles(...PACKAGES, "tools", "dev-stack")
    .map(readText)
    .join("\n");

  it("docs/errors.md lists exactly the error codes of the catalogue", () => {
    const listed = namesIn(readText("docs/errors.md"), /^\| `(\w+)` *\|/gm);
    const atTheEdge = ["not_found", "method_not_allowed", "invalid_request"];
    expect(listed.toSorted()).toEqual([...Object.values(ErrorCode), ...atTheEdge].toSorted());
  });

  it("SECURITY.md names only tests that exist", () => {
    const named = namesIn(readText("SECURITY.md"), /`([\w/.-]+\.test\.ts)`/g);
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  });

  it("link to and show only files that are in the repository", () => {
    const list = execFileSync("git", ["ls-files"], { cwd: ROOT, encoding: "utf8" });
    const tracked = list.trim().split("\n");
    const there = new Set(tracked.flatMap((file) => [file, ...foldersOf(file)]));
    const links = tracked
      .filter((file) => file.endsWith(".md"))
      .flatMap((file) => {
        const text = readText(file).replaceAll(/^```.*?^```/gms, "");
        return namesIn(text, /\]\(([^)\s#:]+)(?:#[^)]*)?\)/g).map((to) => ({
          ...{ file, to: join(dirname(file), to).replace(/\/$/, "") },
        }));
      });
    expect(links.length).toBeGreaterThan(50);
    expect(links.filter(({ to }) => !there.has(to))).toEqual([]);
  });

  it("docs/configuration.md lists exactly the variables that are read", () => {
    const listed = namesIn(configuration, /^\| `([A-Z_0-9]+)` *\|/gm);
    const reads =
      /\benv(?:ironment)?\.([A-Z][A-Z_0-9]+)|\bread\w*\(\s*(?:env,\s*)?"([A-Z][A-Z_0-9]+)"/g;
    const read = new Set(namesIn(code, reads).map((name) => name.replace(/_FILE$/, "")));
    for (const name of ["HOME", "PATH", "INIT_CWD"]) read.delete(name);
    expect(listed.toSorted()).toEqual([...read].toSorted());
  });

  it("docs/configuration.md lists exactly the variables that files may hold", () => {
    const [, section = ""] = /given as a file[^:]*:([^.]+)\./.exec(configuration) ?? [];
    const listed = namesIn(section, /`(\w+)`/g);
    const read = namesIn(code, /\bread(?:Secret|Keys|Credential)\(\s*[\w.]+,\s*"([A-Z_]+)"/g);
    expect(listed.toSorted()).toEqual([...new Set(read)].toSorted());
  });
});
