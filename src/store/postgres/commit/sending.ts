import type { Sql, Statement } from '../sql.ts'

/** The writes of one transaction. They are sent one after the other, and nobody waits for each answer. */
export interface Sending {
  send(statement: Statement, values: readonly unknown[]): void
  /** Something that was sent already. */
  run(sent: Promise<unknown>): void
  /** Throws the first error of what was sent. Wait for a later answer first. */
  check(): void
}

export function createSending(sql: Sql): Sending {
  let failure: { error: unknown } | null = null
  // What follows in a failed transaction fails too. The first error is the reason.
  const run = (sent: Promise<unknown>): void =>
    void sent.catch((error: unknown) => {
      failure ??= { error }
    })
  return {
    run,
    send: (statement, values) => run(sql.rows(statement, values)),
    check() {
      if (failure !== null) throw failure.error
    },
  }
}
