// The transactions of one process. Each has a number that is committed with it, so that a new connection can tell whether it was done.

import type { Clock } from '../../../domain/clock.ts'
import { type ChainEnd, emptyChain } from '../../audit-chain.ts'
import { type Command, needsSync, type Result } from '../../ports/command.ts'
import type { AppendEntries } from '../../ports/runs.ts'
import { isTextAlone } from '../../rules/run-rules.ts'
import type { Connection } from '../connection/connect.ts'
import { isAway } from '../connection/database-error.ts'
import { endOfChain } from '../rows/audit-table.ts'
import { type Decided, decideGroup } from './decision-group.ts'
import { SEQ_BLOCK } from './heads.ts'
import { appendText, gatherText, readAnswer, type TextGroup, textResults, textValues } from './text-group.ts'
import { createUnflushedText, type Hello } from './writer-connection.ts'

/** A transaction of which nobody knows whether it was committed. */
export interface InDoubt {
  n: number
  /** What to answer if it was. */
  settle(answer: string): Result[]
}

/** The connection was lost while a transaction may have been committed. */
export class Doubt extends Error {
  readonly inDoubt: InDoubt
  constructor(inDoubt: InDoubt, cause: unknown) {
    super('The connection was lost during a commit.', { cause })
    this.inDoubt = inDoubt
  }
}

export interface TransactionsOptions {
  clock: Pick<Clock, 'mono'>
  /** Names this process in `writers` and its chain of the audit trail. Two processes must never use one name. */
  writerId: string
  /** How far a synced commit must have come: on the server's disk (`on`), or also visible on its standbys. */
  synced: 'on' | 'remote_apply'
}

/** Text is on disk after this time, even if nothing but text is written. */
const FLUSH_MS = 1_000

export function createTransactions({ clock, writerId, synced }: TransactionsOptions) {
  const unflushed = createUnflushedText()
  /** Of the sessions whose runs this process executes: the last seq that is known, and the ceiling that is surely on disk. */
  const reserved = new Map<string, { head: number; ceiling: number }>()
  let n = 0
  let chainEnd: ChainEnd | null = null

  const BEGIN = 'BEGIN'
  const BEGIN_SYNCED = `BEGIN; SET LOCAL synchronous_commit = ${synced}`

  async function writeDecisions(on: Connection, commands: readonly Command[]): Promise<Result[]> {
    const isSynced = commands.some(mustSync)
    const mine = n + 1
    const settle = (decided: Decided): Result[] => {
      n = mine
      chainEnd = decided.chainEnd
      if (isSynced) unflushed.clear()
      for (const { session, run, head, ceiling } of decided.heads) {
        if (run === null) reserved.delete(session)
        else if (isSynced) reserved.set(session, { head, ceiling })
      }
      return decided.results
    }
    let decided: Decided | null = null
    try {
      return settle(
        await decideGroup({
          connection: on,
          commands,
          begin: isSynced ? BEGIN_SYNCED : BEGIN,
          writerId,
          n: mine,
          chainEnd: chainEnd ?? emptyChain(writerId),
          onCommit: (all) => {
            decided = all
          },
        }),
      )
    } catch (error) {
      const all: Decided | null = decided
      if (all === null || !isAway(error)) throw error
      throw new Doubt({ n: mine, settle: () => settle(all) }, error)
    }
  }

  async function writeText(on: Connection, group: TextGroup): Promise<Result[]> {
    const { rows } = group
    const isSynced = mustFlush(group)
    const mine = n + 1
    const settle = (answer: string): Result[] => {
      n = mine
      const answers = readAnswer(rows, answer)
      for (const row of rows) {
        const found = answers.get(row)
        const known = reserved.get(row.session)
        if (found === undefined) reserved.delete(row.session)
        else if (isSynced) reserved.set(row.session, { head: found.lastSeq, ceiling: found.ceiling })
        else if (known !== undefined) known.head = found.lastSeq
      }
      if (isSynced) unflushed.clear()
      else {
        const written = rows.flatMap((row) => {
          const lastSeq = answers.get(row)?.lastSeq
          return lastSeq === undefined ? [] : [{ ...row, lastSeq }]
        })
        if (written.length > 0) unflushed.add(mine, written, clock.mono())
      }
      return textResults(group, answers)
    }
    try {
      const begun = isSynced ? on.run(BEGIN_SYNCED) : null
      const sent = on.rows<[string]>(appendText, textValues(writerId, mine, rows))
      const done = isSynced ? on.run('COMMIT') : null
      const [answered] = await Promise.all([sent, begun, done])
      return settle(answered[0]?.[0] ?? '')
    } catch (error) {
      throw isAway(error) ? new Doubt({ n: mine, settle }, error) : error
    }
  }

  /** Text that would come near a ceiling that is not on disk, or that follows text which is not on disk for long, is synced. */
  function mustFlush({ rows }: TextGroup): boolean {
    const { since } = unflushed
    if (since !== null && clock.mono() - since > FLUSH_MS) return true
    return rows.some(({ session, count }) => {
      const known = reserved.get(session)
      return known === undefined || known.head + count > known.ceiling - SEQ_BLOCK / 2
    })
  }

  return {
    /** The number of the last one that is known to be committed. */
    get lastNumber(): number {
      return n
    },
    unflushed,
    /** Call it for each new connection, before anything is written on it. */
    async resume(hello: Hello): Promise<void> {
      // After a crash of the server, the heads have moved.
      reserved.clear()
      n = Math.max(n, hello.n)
      chainEnd ??= await readChainEnd(hello.connection, writerId)
    },
    /** Does the commands in one transaction each time it is called. Throws `Doubt` if nobody knows whether they were done. */
    of(commands: readonly Command[]): (on: Connection) => Promise<Result[]> {
      if (!commands.every(isText)) return (on) => writeDecisions(on, commands)
      const group = gatherText(commands as readonly AppendEntries[])
      return (on) => writeText(on, group)
    },
  }
}

const isText = (command: Command): boolean => command.type === 'append' && isTextAlone(command)

/** Entries of other commands than text alone are never written again, so they must be on disk before anybody sees them. */
const mustSync = (command: Command): boolean => needsSync(command) || command.type === 'append'

async function readChainEnd(connection: Connection, chain: string): Promise<ChainEnd> {
  const [row] = await connection.rows<[number, string]>(endOfChain, [chain])
  return row === undefined ? emptyChain(chain) : { chain, n: row[0], head: row[1] }
}
