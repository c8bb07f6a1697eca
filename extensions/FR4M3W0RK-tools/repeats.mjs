/** A model that loops calls the same tool with the same arguments without end: refuse after a few. */

const MINUTE = 60 * 1000;
const READ = { most: 10, window: MINUTE, words: "ten times within a minute: it is not made again before that minute is over." };
const WRITE = { most: 3, window: 10 * MINUTE, words: "three times already: it is not sent again." };
/** The gateway tries a failed job again after 1, 5 and 15 minutes, also when its write had been done. */
const JOB_WRITE = { ...WRITE, window: 30 * MINUTE };
/** Each try has a session of its own, `agent:<agent>:cron:<job>:run:<try>`: they are counted together. */
const TRY_OF_A_JOB = /^(.*:cron:[^:]+)(?::run:[^:]+)?$/;

export class RepeatGuard {
  #made = new Map();

  /** Why this call of a session is refused; null, and counted, when it is not. A refused call counts for nothing. */
  refusal(session, tool, args, now = Date.now()) {
    this.#forget(now);
    const job = TRY_OF_A_JOB.exec(session)?.[1];
    const limit = /^(list|read)_/.test(tool) ? READ : job ? JOB_WRITE : WRITE;
    const key = JSON.stringify([job ?? session, tool, Object.entries(args).sort()]);
    const { times } = this.#made.get(key) ?? { times: [] };
    if (times.length >= limit.most) return `This very call was made ${limit.words}`;
    this.#made.set(key, { times: [...times, now], window: limit.window });
    return null;
  }

  #forget(now) {
    for (const [key, { times, window }] of this.#made) {
      const recent = times.filter((time) => now - time < window);
      if (recent.length > 0) this.#made.set(key, { times: recent, window });
      else this.#made.delete(key);
    }
  }
}
