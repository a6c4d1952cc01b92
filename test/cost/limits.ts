// What one plain run and one start may cost. Counted, not timed, so a busy machine changes nothing. A figure that has to grow gets a
// reason here; one that fell is lowered.

/** One message of a user to the AG-UI door and the whole answer of a model, without tools. */
export const runLimits = {
  /** Statements on SQLite, without those that begin and end a transaction and those for text in flight, whose number depends on the time. */
  statementsOfFirst: 27,
  statementsOfSecond: 28,
  /** Rows of all tables that are added, changed or removed, without text in flight. */
  rows: 15,
  /** Waits for the disk: one for the message, one for the answer. */
  syncs: 2,
  /** The request, the call of the model, and the end of the run. */
  logLines: 3,
  /** Characters of these lines, with ids. */
  logChars: 900,
}

/** `quarterdeck serve` up to its first 200 on /ready. */
export const startLimits = {
  /** Files of ours, from a checkout. */
  sources: 764,
  /** Files of other packages, from a checkout. */
  packages: 198,
  /** Files of the published program: the entry, the bundler's own, `main.cjs`, `server.cjs`, and the demo model of this start. */
  built: 5,
}
