// What `measure.ts` has found out, and the scale model works with.

import constants from './constants.json' with { type: 'json' }

/** Times are microseconds of CPU unless their names say otherwise. */
export interface ScaleConstants {
  measured: { on: string; at: string }
  /** A commit of text: for the group, for each run in it, for each event. */
  text: { databaseUs: Parts; clientUs: Parts; walBytes: Parts; tripMs: number }
  /** A run with an answer of one token, many runs at a time. `commits` and `statements`: one at a time. */
  run: {
    databaseUs: number
    clientUs: number
    walBytes: number
    inserted: number
    updated: number
    commits: number
    statements: number
    /** How many times as much the database works for a run when a million sessions are stored. */
    storedFactor: number
  }
  /** All that a replica does for a token, with a reader on the same replica. */
  token: { clientUs: number }
  /** A wake: for the one who sends it, and for each process that listens. */
  notify: { databaseUs: { send: number; listener: number }; clientUs: { send: number; hear: number } }
  /** `owner`: for each replica that has runs, when somebody looks for runs of dead ones. */
  read: {
    heads: { query: number; row: number }
    entries: number
    openRuns: number
    owner: number
    clientUs: number
  }
  /** A replica without work, for each second. */
  idle: { databaseUs: number; clientUs: number; commits: number }
  /** How much longer a commit takes when it waits for the disk. */
  flushMs: number
  memory: { backendKib: number; runKib: number }
}

interface Parts {
  group: number
  row: number
  event: number
}

export const measuredConstants: ScaleConstants = constants
