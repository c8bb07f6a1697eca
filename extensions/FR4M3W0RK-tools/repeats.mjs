/** A model that loops calls the same tool with the same arguments without end: refuse after a few. */

const MOST = 3;
const WINDOW_MS = 10 * 60 * 1000;

export class RepeatGuard {
  #seen = new Map();

  /** Count this call of a session; false when it was made too often within ten minutes. */
  allows(session, tool, args, now = Date.now()) {
    this.#forget(now);
    const key = JSON.stringify([session, tool, Object.entries(args).sort()]);
    const times = [...(this.#seen.get(key) ?? []), now].slice(-MOST - 1);
    this.#seen.set(key, times);
    return times.length <= MOST;
  }

  #forget(now) {
    for (const [key, times] of this.#seen) {
      const recent = times.filter((time) => now - time < WINDOW_MS);
      if (recent.length > 0) this.#seen.set(key, recent);
      else this.#seen.delete(key);
    }
  }
}
