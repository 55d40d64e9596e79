import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { type Attacker, inParallel, openFrom, runAttack } from "../harness/attack.ts";

type Target = Attacker & { readonly ports: readonly number[] };

const CONNECTIONS = 100;
const MANY_CONNECTIONS = 10_000;
/**
 * The pause between two requests of a connection. With instant answers, all connections send 4,500 requests a second.
 */
const PAUSE_MS = 20;

const madeUpKey = () => randomBytes(32).toString("hex");
const requestWith = (key: string) =>
  `GET /api/v1/activity HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer act_live_${key}\r\n\r\n`;

/** Attacks from one address without a valid key. They last until their process ends. */
export const ATTACKS = {
  "different made-up keys": (target) =>
    inParallel(CONNECTIONS, async (index) => {
      const socket = await open(target, index);
      while (socket.writable) {
        await ask(target, socket, requestWith(madeUpKey()));
        await wait(PAUSE_MS);
      }
    }),

  "10,000 connections": (target) =>
    inParallel(MANY_CONNECTIONS, async (index) => {
      // Opens the connections over five seconds, because the kernel would refuse all of them at once.
      await wait(index / 2);
      const socket = await open(target, index);
      for (;;) {
        await ask(target, socket, requestWith("0".repeat(64)));
        await wait(5_000);
      }
    }),

  aborts: (target) =>
    inParallel(CONNECTIONS, async (index) => {
      for (;;) {
        const socket = await open(target, index);
        socket.write(requestWith(madeUpKey()));
        target.count("requests");
        await wait(1);
        socket.resetAndDestroy();
        await wait(PAUSE_MS);
      }
    }),
} satisfies Record<string, (target: Target) => Promise<unknown>>;

async function ask(target: Target, socket: Socket, request: string): Promise<void> {
  target.count("requests");
  await new Promise<void>((resolve) => {
    const end = () => {
      socket.off("data", answered).off("close", end);
      resolve();
    };
    const answered = (chunk: Buffer) => {
      target.count(chunk.toString("latin1", 9, 12));
      end();
    };
    socket.on("data", answered).on("close", end);
    socket.write(request);
  });
}

const open = (target: Target, index: number) =>
  openFrom(target, target.ports[index % target.ports.length] ?? 0);

if (import.meta.main) await runAttack(ATTACKS, (ports) => ({ ports: ports.map(Number) }));
