// The operations of a simulation: what operators, machines and networks do while clients are calling.

import { setTimeout as wait } from "node:timers/promises";
import { canFillLog, canLimitFiles, type SimulatedGateway } from "./gateway.ts";
import type { OperationKind, OperationPlan } from "./plan.ts";
import { newLimitedKey, revokeKey, rotateKey, topUp, type World } from "./world.ts";

/** What went wrong that must not: an exit code, a process that does not stop. */
export type Problems = string[];

interface Scene {
  readonly world: World;
  readonly gateway: SimulatedGateway;
  readonly plan: OperationPlan;
  readonly step: number;
  readonly problems: Problems;
}

type Operation = (scene: Scene) => Promise<void>;

export async function operate(world: World, plan: OperationPlan, step: number): Promise<Problems> {
  const running = world.gateways.filter(({ isRunning }) => isRunning);
  const gateway = running[plan.process % running.length];
  const problems: Problems = [];
  await wait(plan.atMs);
  if (gateway?.isRunning) await OPERATIONS[plan.kind]({ world, gateway, plan, step, problems });
  return problems;
}

const OPERATIONS: Readonly<Record<OperationKind, Operation>> = {
  kill: ({ gateway, plan }) => killFor(gateway, plan.durationMs),
  async "kill all"({ world, plan }) {
    const running = world.gateways.filter(({ isRunning }) => isRunning);
    await Promise.all(running.map((each) => killFor(each, plan.durationMs)));
  },
  "kill and restart": ({ gateway }) => killFor(gateway, 0),
  async terminate({ gateway, problems }) {
    await stop(gateway, problems);
    await gateway.start();
  },
  "cut clients": ({ gateway }) => gateway.disturb(async () => gateway.toClients.cut("reset")),
  "lose replies to clients": ({ gateway, plan }) =>
    gateway.disturb(async () => {
      gateway.toClients.harm({ swallowAfterBytes: plan.value % 2000 });
      await wait(plan.durationMs);
      gateway.toClients.harm({});
      gateway.toClients.cut("reset");
    }),
  async "slow network to clients"({ gateway, plan }) {
    gateway.toClients.harm({ bytesPerSecond: 20_000, delayMs: plan.value % 50 });
    await wait(plan.durationMs);
    gateway.toClients.harm({});
  },
  async "clock jump"({ gateway, plan }) {
    // Up to two hours forwards or backwards.
    gateway.shiftClock((plan.value - 500_000) * 14);
  },
  async "disk full"({ gateway, plan }) {
    if (!canLimitFiles) return;
    gateway.setDiskFull(true);
    await wait(plan.durationMs);
    gateway.setDiskFull(false);
  },
  async "log full"({ gateway, problems }) {
    if (!canFillLog) return;
    await stop(gateway, problems);
    await gateway.start({ isLogFull: true });
  },
  "top-up": ({ world, plan, step }) => topUp(world, accountOf(plan), amountOf(plan, step)),
  "two top-ups at once": ({ world, plan, step }) => topUp(world, accountOf(plan), amountOf(plan, step), 2),
  "revoke key": ({ world, plan }) => revokeKey(world, callerOf(plan)),
  "rotate key": ({ world, plan }) => rotateKey(world, callerOf(plan)),
  "new limited key": ({ world }) => newLimitedKey(world),
  async "database cut"({ gateway }) {
    gateway.toDatabase?.cut("reset");
  },
  async "database away"({ gateway, plan }) {
    await gateway.toDatabase?.goAway(plan.value % 2 === 0 ? "refuse" : "reset");
    await wait(plan.durationMs);
    await gateway.toDatabase?.comeBack();
  },
  async "database stalls"({ gateway, plan }) {
    gateway.toDatabase?.pause();
    await wait(plan.durationMs);
    gateway.toDatabase?.resume();
  },
  "lost commit": loseCommit,
};

async function killFor(gateway: SimulatedGateway, ms: number): Promise<void> {
  await gateway.kill();
  await wait(ms);
  await gateway.start();
}

/** A gateway that is asked to stop ends with 0, whatever it is doing. */
export async function stop(gateway: SimulatedGateway, problems: Problems): Promise<void> {
  const code = await gateway.stop();
  if (code !== 0) problems.push(`gateway ${gateway.index} ended with ${code} when asked to stop`);
}

/** The next write is committed by the database, and the gateway never hears of it. */
async function loseCommit({ gateway, plan }: Scene): Promise<void> {
  const proxy = gateway.toDatabase;
  if (proxy === null) return;
  const isLost = new Promise<void>((resolve) => {
    proxy.listen((bytes, direction) => {
      if (direction === "toClient" || !/COMMIT|at_once/.test(bytes.toString("latin1"))) return;
      proxy.listen(null);
      proxy.harm({ swallowAfterBytes: 0 });
      resolve();
    });
  });
  await Promise.race([isLost, wait(plan.durationMs)]);
  proxy.listen(null);
  await wait(100);
  proxy.cut("reset");
  proxy.harm({});
}

const accountOf = ({ value }: OperationPlan): "rich" | "poor" => (value % 5 === 0 ? "rich" : "poor");

/** Never the same twice, and a few thousandths of a dollar: the poor account stays poor. */
const amountOf = ({ value }: OperationPlan, step: number): bigint =>
  BigInt((value % 500) + 1) * 10_000n + BigInt(step % 10_000);

const callerOf = ({ value }: OperationPlan): "rich" | "limited" | "poor" =>
  (["rich", "limited", "poor"] as const)[value % 3] ?? "rich";
