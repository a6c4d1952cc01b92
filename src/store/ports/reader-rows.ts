// Who reads what, for processes that share a store. A run that a reader started stops when nobody reads it any more, wherever the
// readers are connected.

/** Readers of one process: of one run, or of a whole session. */
export interface ReaderRow {
  sessionId: string
  /** Null: they read every run of the session. */
  runId: string | null
}

/** The rows of a process count only while its lease lives. */
export interface ReaderRows {
  /** Adds rows of this process and removes others. What is there already, or is gone already, makes no difference. */
  change(replica: string, added: readonly ReaderRow[], removed: readonly ReaderRow[]): Promise<void>
  /** What other live processes read in these sessions. */
  readElsewhere(replica: string, sessionIds: readonly string[]): Promise<ReaderRow[]>
  /** The names of the other processes that live. */
  others(replica: string): Promise<string[]>
  /** Removes the rows and leases of processes that ended at least an hour ago. */
  tidy(): Promise<void>
}
