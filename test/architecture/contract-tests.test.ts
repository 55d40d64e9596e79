import { describe, expect, it } from "vitest";
import {
  type Clause,
  clausesOf,
  hasTest,
  headingsOf,
  readClauses,
  readHeldClauses,
} from "./contract-clauses.ts";

const clauses = readClauses();
const held = readHeldClauses();
const show = ({ heading, text }: Clause) => `${heading}: ${text.slice(0, 60)}`;

describe("docs/contract-tests.md", () => {
  it("has the headings of docs/source-contract.md, in their order", () => {
    expect(headingsOf("docs/contract-tests.md")).toEqual(headingsOf("docs/source-contract.md"));
  });

  it("names every clause of docs/source-contract.md, once and in its order", () => {
    expect(clauses.length).toBeGreaterThan(150);
    expect(held.flatMap((row) => clausesOf(row, clauses)).map(show)).toEqual(clauses.map(show));
  });

  it("points to existing clauses only, and to one clause each", () => {
    const lost = held.filter((row) => clausesOf(row, clauses).length === 0);
    expect(lost.map(({ heading, begins }) => `${heading}: ${begins}`)).toEqual([]);
  });

  it("names an existing test for every clause, or says why there is none", () => {
    const unheld = held.filter(({ tests, told }) => tests.length === 0 && !told);
    const missing = held.flatMap(({ tests }) => tests).filter((test) => !hasTest(test));
    expect(unheld.map(({ heading, begins }) => `${heading}: ${begins}`)).toEqual([]);
    expect(missing.map(({ file, name }) => `${file}: ${name}`)).toEqual([]);
  });

  it("names few clauses that no test can hold", () => {
    const told = held.filter((row) => row.told).flatMap((row) => clausesOf(row, clauses));
    expect(told.length).toBeLessThan(clauses.length / 20);
  });
});
