// What one plain run and one start may cost. Counted, not timed, so a busy machine changes nothing. A figure that has to grow gets a
// reason here; one that fell is lowered.

/** One message of a user to the AG-UI door and the whole answer of a model, without tools. */
export const runLimits = {
  /** Statements on SQLite, without those that begin and end a transaction and those for text in flight, whose number depends on the time. */
  statementsOfFirst: 18,
  statementsOfSecond: 22,
  /** Rows of all tables that are added, changed or removed, without text in flight. */
  rows: 12,
  /**
   * Rows that SQLite returns for a run of a new session, and of one with a thousand messages. Of those, 400 are read to show the model
   * 200, because thoughts and broken-off answers are not shown.
   */
  rowsReadOfFirst: 30,
  rowsReadOfLong: 430,
  /** Waits for the disk: one for the message, one for the answer. */
  syncs: 2,
  /** The request, the call of the model, and the end of the run. */
  logLines: 3,
  /** Characters of these lines, with ids. */
  logChars: 900,
}

/** A model's answer on its way from the socket to whoever takes it. */
export const streamLimits = {
  /** The one that waits until the read is taken. It was eleven when each stage was a generator. */
  promisesPerRead: 1,
}

/** Pages of 4 KB that the commits of a plain run with 200 tokens write on SQLite, if no other run shares them. */
export const pageLimits = {
  accept: 19,
  text: 4,
  /** One of them is the index that finds an answer by its id, for what people think of it. */
  finish: 17,
}

/** `quarterdeck serve` up to its first 200 on /ready. */
export const startLimits = {
  /**
   * Files of ours, from a checkout. What is asked about agents elsewhere is among them: the tools of hosts, what is remembered, and how
   * their programs are hosted; and of what lasts longer than a run, the shapes in an agent's file and what its loop asks: schedules,
   * skills, memories, summaries, documents and what answers cite of them. The rest of these loads when it is used.
   */
  sources: 682,
  /** Files of other packages, from a checkout. */
  packages: 198,
  /** Files of the published program: the entry, the bundler's own, `main.cjs`, `server.cjs`, and the demo model of this start. */
  built: 5,
}
