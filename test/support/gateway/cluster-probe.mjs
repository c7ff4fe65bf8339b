// Two workers of Node's cluster module, seen through src/workers/node-messages.ts. Prints each step when it has happened.

import cluster from "node:cluster";
import { EventEmitter, once } from "node:events";
import { connect, createServer } from "node:net";

if (cluster.isPrimary) await watchWorkers();
else createServer((socket) => socket.end("served")).listen({ host: "127.0.0.1", port: 0 });

async function watchWorkers() {
  const { interceptWorker } = await import("../../../dist/workers/node-messages.js");
  cluster.setupPrimary({ serialization: "advanced" });
  const step = (name) => console.log(name);

  function start({ mayEnd }) {
    const child = cluster.fork();
    const seen = new EventEmitter();
    const node = interceptWorker(child.process, {
      onHandout: (handout) => seen.emit("handout", handout),
      onTaken: (handout) => seen.emit("taken", handout),
      mayEnd() {
        seen.emit("end");
        return mayEnd;
      },
      onEnding: () => undefined,
      onEnded: () => seen.emit("ended"),
    });
    return { child, seen, node, listening: once(child, "listening") };
  }

  async function deliver(seen, handout, name) {
    const taken = once(seen, "taken");
    handout.deliver();
    if ((await taken)[0] === handout) step(name);
  }

  const first = start({ mayEnd: false });
  const [{ port }] = await first.listening;
  const ask = () => once(connect(port, "127.0.0.1"), "data");

  let handedOut = once(first.seen, "handout");
  const served = ask();
  const [handout] = await handedOut;
  step("hands a connection over");
  await deliver(first.seen, handout, "acknowledges a connection");
  await served;
  step("serves a connection that was delivered later");

  handedOut = once(first.seen, "handout");
  const passedOn = ask();
  const [untaken] = await handedOut;
  let isEndKnown = false;
  first.child.on("exit", () => {
    isEndKnown = true;
  });
  first.child.process.kill("SIGKILL");
  // Node tells of the lost channel and of the exit.
  await once(first.seen, "end");
  await once(first.seen, "end");
  if (!isEndKnown && first.child.isConnected()) step("does not learn of an end that is held back");

  const second = start({ mayEnd: true });
  await second.listening;
  first.node.releaseEnd();
  if (isEndKnown) step("learns of an end that is released");
  handedOut = once(second.seen, "handout");
  second.node.hand(untaken);
  const [again] = await handedOut;
  await deliver(second.seen, again, "acknowledges a connection that was passed on");
  await passedOn;
  step("serves a connection that was passed on");
  process.exit();
}
