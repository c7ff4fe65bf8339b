// @ts-check
// A clock that jumps, for a gateway under simulation. Loaded with `--import` before the gateway's own code, it shifts what
// Date says by the milliseconds that the parent process sends. Timers and the clock of the database stay as they are.

let shiftMs = 0;

const RealDate = Date;

class ShiftedDate extends RealDate {
  constructor(/** @type {[]} */ ...given) {
    if (given.length === 0) super(ShiftedDate.now());
    else super(...given);
  }

  /** @override */
  static now() {
    return RealDate.now() + shiftMs;
  }
}

globalThis.Date = /** @type {DateConstructor} */ (/** @type {unknown} */ (ShiftedDate));

process.on("message", (message) => {
  shiftMs = /** @type {{ shiftMs: number }} */ (message).shiftMs;
});
// The channel alone keeps no process alive that was asked to stop.
process.channel?.unref();
