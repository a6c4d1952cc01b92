// Commits groups of commands, one transaction after the other, on one connection. A group is done once, whatever happens to the
// connection or to the server: each transaction has a number that is committed with it.

import { type Clock, sleep } from '../../../domain/clock.ts'
import { ServerError } from '../../../domain/errors.ts'
import type { ChainEnd } from '../../audit-chain.ts'
import { emptyChain } from '../../audit-chain.ts'
import { type Command, needsSync, type Result } from '../../ports/command.ts'
import type { AppendEntries } from '../../ports/runs.ts'
import { isTextAlone } from '../../rules/run-rules.ts'
import type { Connection } from '../connection/connect.ts'
import type { Database } from '../connection/database.ts'
import { databaseError, isAway, isRace, isTooLong, nameTooLong, sqlState } from '../connection/database-error.ts'
import { endOfChain } from '../rows/audit-table.ts'
import { type Decided, decideGroup, isTooEarly } from './decision-group.ts'
import { SEQ_BLOCK } from './heads.ts'
import { appendText, gatherText, readAnswer, type TextGroup, textResults, textValues } from './text-group.ts'
import { createUnflushedText } from './unflushed-text.ts'
import { connectWriter, type Hello } from './writer-connection.ts'

export interface Committer {
  /** Resolves when the commands are committed, and on disk if one of them needs that. Throws only if none was applied. */
  commit(commands: readonly Command[]): Promise<Result[]>
  /** Connects, so that a wrong setting shows at once. */
  open(): Promise<void>
  /** Finishes what is under way. */
  close(): Promise<void>
}

export interface CommitterOptions {
  database: Database
  clock: Clock
  /** Names this process in `writers` and its chain of the audit trail. */
  writerId: string
  /** How far a synced commit must have come: on the server's disk, or also visible on its standbys. */
  synced: 'on' | 'remote_apply'
  waitMs: number
}

/** Text is on disk after this time, even if nothing but text is written. */
const FLUSH_MS = 1_000
/** How long to wait before the database is asked again whether it has committed something. */
const DOUBT_MS = 250
/** How long the commands to a session wait for the process that executes its run, after the database was away. It stops all others. */
const OWNER_MS = 1_000
const ASK_OWNER_MS = 50
/** How often a command is tried that loses a race. Each time, another transaction has won. */
const RACES = 12

/** A transaction of which nobody knows whether it was committed. */
interface InDoubt {
  n: number
  /** What to answer if it was. */
  settle(answer: string): Result[]
}

/** The connection was lost while a transaction may have been committed. */
class Doubt extends Error {
  readonly inDoubt: InDoubt
  constructor(inDoubt: InDoubt, cause: unknown) {
    super('The connection was lost during a commit.', { cause })
    this.inDoubt = inDoubt
  }
}

export function createCommitter({ database, clock, writerId, synced, waitMs }: CommitterOptions): Committer {
  const unflushed = createUnflushedText()
  /** Of the sessions whose runs this process executes: the last seq that is known, and the ceiling that is surely on disk. */
  const reserved = new Map<string, { head: number; ceiling: number }>()
  const closing = new AbortController()
  let connection: Connection | null = null
  let n = 0
  let patientUntil = Number.NEGATIVE_INFINITY
  let chainEnd: ChainEnd | null = null
  let queue: Promise<unknown> = Promise.resolve()

  const BEGIN = 'BEGIN'
  const BEGIN_SYNCED = `BEGIN; SET LOCAL synchronous_commit = ${synced}`

  /** Connects again if the connection is lost. Returns null if it was there. */
  async function connected(patience: number): Promise<Hello | null> {
    if (connection?.isOpen === true) return null
    const hello = await connectWriter({ database, writerId, unflushed, lastNumber: n + 1 }, patience)
    // After a crash of the server, the heads have moved.
    reserved.clear()
    connection = hello.connection
    n = Math.max(n, hello.n)
    patientUntil = clock.mono() + OWNER_MS
    chainEnd ??= await readChainEnd(hello.connection, writerId)
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
    const text = commands.every(isText) ? gatherText(commands as readonly AppendEntries[]) : null
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
        return text === null ? await writeDecisions(connection, commands) : await writeText(connection, text)
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
          await sleep(clock, races * 5 * (1 + (n % 3)), closing.signal)
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

  /** One group after the other. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = queue.then(work, work)
    queue = done.catch(() => {})
    return done
  }

  return {
    commit: (commands) => inTurn(() => (commands.length === 0 ? Promise.resolve([]) : commitPatiently(commands))),
    open: () => inTurn(async () => void (await connected(waitMs))),
    async close() {
      closing.abort()
      // A database that is away must not keep the process from ending.
      await Promise.race([queue, sleep(clock, waitMs)])
      await connection?.close().catch(() => {})
    },
  }
}

const DISK_FULL = '53100'

const isText = (command: Command): boolean => command.type === 'append' && isTextAlone(command)

/** Entries of other commands than text alone are never written again, so they must be on disk before anybody sees them. */
const mustSync = (command: Command): boolean => needsSync(command) || command.type === 'append'

const lostAgain = (): ServerError =>
  new ServerError('storage_failed', 'The database broke off the transaction again and again. Try again soon.')

const brokenStore = (cause: unknown): ServerError =>
  new ServerError('storage_failed', 'The command could not be stored. See the server log.', { cause })

async function readChainEnd(connection: Connection, chain: string): Promise<ChainEnd> {
  const [row] = await connection.rows<[number, string]>(endOfChain, [chain])
  return row === undefined ? emptyChain(chain) : { chain, n: row[0], head: row[1] }
}
