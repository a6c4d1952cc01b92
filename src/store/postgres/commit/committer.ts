// Commits groups of commands, one transaction after the other, on one connection. A group is done once, whatever happens to the
// connection or to the server: each transaction has a number that is committed with it.

import { type Clock, sleep } from '../../../domain/clock.ts'
import { ServerError } from '../../../domain/errors.ts'
import type { Command, Result } from '../../ports/command.ts'
import type { Connection } from '../connection/connect.ts'
import type { Database } from '../connection/database.ts'
import { databaseError, isAway, isRace, isTooLong, nameTooLong, sqlState } from '../connection/database-error.ts'
import { isTooEarly } from './decision-group.ts'
import { createTransactions, Doubt, type InDoubt, type TransactionsOptions } from './transactions.ts'
import { connectWriter, type Hello } from './writer-connection.ts'

export interface CommitterOptions extends TransactionsOptions {
  database: Database
  clock: Clock
  waitMs: number
}

/** How long to wait before the database is asked again whether it has committed something. */
const DOUBT_MS = 250
/** How long the commands to a session wait for the process that executes its run, after the database was away. It stops all others. */
const OWNER_MS = 1_000
const ASK_OWNER_MS = 50
/** How often a command is tried that loses a race. Each time, another transaction has won. */
const RACES = 12

export function createCommitter({ database, clock, writerId, synced, waitMs }: CommitterOptions) {
  const transactions = createTransactions({ clock, writerId, synced })
  const closing = new AbortController()
  let connection: Connection | null = null
  let patientUntil = Number.NEGATIVE_INFINITY
  let queue: Promise<unknown> = Promise.resolve()

  /** Connects again if the connection is lost. Returns null if it was there. */
  async function connected(patience: number): Promise<Hello | null> {
    if (connection?.isOpen === true) return null
    const { unflushed, lastNumber } = transactions
    const hello = await connectWriter({ database, writerId, unflushed, lastNumber: lastNumber + 1 }, patience)
    connection = hello.connection
    patientUntil = clock.mono() + OWNER_MS
    await transactions.resume(hello)
    return hello
  }

  function drop(): void {
    connection?.destroy()
    connection = null
  }

  async function commitPatiently(commands: readonly Command[]): Promise<Result[]> {
    const results = await commitGroup(commands)
    while (results.some(isTooEarly) && clock.mono() < patientUntil && !closing.signal.aborted) {
      await sleep(clock, ASK_OWNER_MS, closing.signal)
      for (const [i, command] of commands.entries()) {
        if (isTooEarly(results[i])) results.splice(i, 1, ...(await oneByOne([command])))
      }
    }
    return results
  }

  async function commitGroup(commands: readonly Command[]): Promise<Result[]> {
    const write = transactions.of(commands)
    const since = clock.mono()
    let inDoubt: InDoubt | null = null
    for (let races = 0; ; ) {
      try {
        const hello = await connected(inDoubt === null ? waitMs : Number.POSITIVE_INFINITY)
        if (hello !== null && inDoubt?.n === hello.n) return inDoubt.settle(hello.answer)
        // Whatever breaks it off each time, others wait behind it.
        const isTooOften = inDoubt !== null && clock.mono() - since > waitMs
        inDoubt = null
        if (isTooOften) throw lostAgain()
        if (connection === null) throw new Error('There is no connection.')
        return await write(connection)
      } catch (error) {
        if (error instanceof Doubt) inDoubt = error.inDoubt
        if ((closing.signal.aborted || database.isLeaving) && connection === null) throw databaseError(error)
        if (inDoubt !== null && connection === null) {
          // Whatever keeps us from asking, what may have been committed must not be done again.
          await sleep(clock, DOUBT_MS, closing.signal)
          continue
        }
        if (error instanceof Doubt || isAway(error) || connection?.isOpen === false) {
          drop()
          if (inDoubt === null && clock.mono() - since > waitMs) throw databaseError(error)
          continue
        }
        await rollBack()
        if (isRace(error) && commands.length === 1 && races < RACES && clock.mono() - since < waitMs) {
          races += 1
          await sleep(clock, races * 5 * (1 + (transactions.lastNumber % 3)), closing.signal)
          continue
        }
        if (commands.length === 1 && isTooLong(error)) return [{ ok: false, error: nameTooLong(error) }]
        if (commands.length > 1 && sqlState(error) !== '' && sqlState(error) !== DISK_FULL) return oneByOne(commands)
        throw databaseError(error)
      }
    }
  }

  async function rollBack(): Promise<void> {
    try {
      await connection?.run('ROLLBACK')
    } catch {
      drop()
    }
  }

  /** The group failed because of one of its commands, and nobody knows which. */
  async function oneByOne(commands: readonly Command[]): Promise<Result[]> {
    const results: Result[] = []
    for (const command of commands) {
      try {
        results.push(...(await commitGroup([command])))
      } catch (error) {
        results.push({ ok: false, error: error instanceof ServerError ? error : brokenStore(error) })
      }
    }
    return results
  }

  /** One group after the other. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = queue.then(work, work)
    queue = done.catch(() => {})
    return done
  }

  return {
    /** Resolves when the commands are committed, and on disk if one of them needs that. Throws only if none was applied. */
    commit: (commands: readonly Command[]): Promise<Result[]> =>
      inTurn(() => (commands.length === 0 ? Promise.resolve([]) : commitPatiently(commands))),
    /** Connects, so that a wrong setting shows at once. */
    open: (): Promise<void> => inTurn(async () => void (await connected(waitMs))),
    /** Finishes what is under way. */
    async close(): Promise<void> {
      closing.abort()
      // A database that is away must not keep the process from ending.
      await Promise.race([queue, sleep(clock, waitMs)])
      await connection?.close().catch(() => {})
    },
  }
}

const DISK_FULL = '53100'

const lostAgain = (): ServerError =>
  new ServerError('storage_failed', 'The database broke off the transaction again and again. Try again soon.')

const brokenStore = (cause: unknown): ServerError =>
  new ServerError('storage_failed', 'The command could not be stored. See the server log.', { cause })
