// A group of commands that need decisions, as one transaction: lock the sessions, ask the rules, write what they decide.

import { ServerError } from '../../../domain/errors.ts'
import type { ChainEnd } from '../../audit-chain.ts'
import type { Command, Result } from '../../ports/command.ts'
import { decide } from '../../rules/decide.ts'
import { decideLater } from '../../rules/rows.ts'
import type { Statement } from '../../tables/statement.ts'
import type { Connection } from '../connection/connect.ts'
import { createSending } from './batch.ts'
import { createHeads, type Head, isAwaited } from './heads.ts'
import { createRowReader } from './row-reader.ts'
import { createRowWriter } from './row-writer.ts'
import { createAuditChain } from './rows/added-rows.ts'

export interface DecisionGroup {
  connection: Connection
  commands: readonly Command[]
  /** Begins the transaction with the durability that the group needs. */
  begin: string
  writerId: string
  /** The number of this transaction. */
  n: number
  chainEnd: ChainEnd
  /** Called right before COMMIT, with what stands once it is done. */
  onCommit(decided: Decided): void
}

export interface Decided {
  results: Result[]
  chainEnd: ChainEnd
  /** Heads that have changed. */
  heads: readonly Head[]
}

/** Fails, because `n` is never null, if the process has given up this transaction meanwhile (`writer-connection.ts`). */
export const NEXT_NUMBER = 'n = CASE WHEN writers.n < excluded.n THEN excluded.n END'

export const countTransaction: Statement = {
  name: 'count_transaction',
  text: `INSERT INTO writers (id, n, answer) VALUES ($1, $2, '')
    ON CONFLICT (id) DO UPDATE SET ${NEXT_NUMBER}, at = now(), answer = ''`,
}

/** Resolves when it is committed. Any error says that nothing was, except that of a connection that is lost after `onCommit`. */
export async function decideGroup(group: DecisionGroup): Promise<Decided> {
  const { connection, commands, writerId } = group
  const sending = createSending(connection)
  const heads = createHeads()
  const chain = createAuditChain(group.chainEnd)
  const seenKeys = new Map<string, string>()
  const writer = createRowWriter({ sql: connection, sending, heads, chain, seenKeys, writerId })
  const reader = createRowReader({ sql: connection, heads, flush: writer.flush, seenKeys })
  try {
    sending.run(connection.run(group.begin))
    await reader.prepare(commands)
    const results: Result[] = []
    for (const command of commands) {
      try {
        const { result, changes } = await decideLater(decide(command), reader)
        for (const change of changes) {
          if (change.write !== 'append_entries') continue
          const head = heads.get(change.sessionId)
          if (isAwaited(head) && !isOfOwner(command, head)) throw tooEarly()
        }
        for (const change of changes) {
          reader.noteChange(change)
          const reading = writer.write(change)
          if (reading !== undefined) await reading
        }
        results.push(result)
      } catch (error) {
        if (!(error instanceof ServerError)) throw error
        results.push({ ok: false, error })
      }
    }
    writer.flush()
    sending.send(countTransaction, [writerId, group.n])
    const decided: Decided = { results, chainEnd: chain.end, heads: [...heads.changed()] }
    group.onCommit(decided)
    // After an error, this rolls back.
    await connection.run('COMMIT')
    sending.check()
    return decided
  } catch (error) {
    sending.check()
    throw error
  }
}

/** Whoever has the fence of the run executes it, or takes it over. */
const isOfOwner = (command: Command, head: Head | undefined): boolean =>
  'fence' in command && command.runId === head?.run

const TOO_EARLY =
  'The database was down, and the server that works on this session has not come back yet. Try again soon.'
const tooEarly = (): ServerError => new ServerError('storage_failed', TOO_EARLY)
export const isTooEarly = (result: Result | undefined): boolean =>
  result?.ok === false && result.error.message === TOO_EARLY
