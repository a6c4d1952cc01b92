// The connections of one process to its database: a few for reads, one for commits, one for notifications. All of them are made
// again when they are lost.

import { type Clock, sleep } from '../../../domain/clock.ts'
import { ServerError } from '../../../domain/errors.ts'
import type { Logger } from '../../../domain/logger.ts'
import { shownStore } from '../../../domain/settings/store-settings.ts'
import type { Notifications } from '../../ports/notifications.ts'
import type { StoreConnections } from '../../store.ts'
import type { Sql } from '../sql.ts'
import { type Connection, createConnect, type Settings } from './connect.ts'
import { ConnectionFailed, databaseError, isAway } from './database-error.ts'
import { createNotifications } from './notifications.ts'
import { createPool } from './pool.ts'

export interface Database {
  /** Plain reads. They wait while the database is away, and are asked again if a connection is lost. */
  readonly reads: Sql
  /**
   * Statements that write, each a transaction of its own. They wait while the database is away, and fail if the connection is lost
   * after they were sent: nobody knows then whether they were done.
   */
  readonly statements: Sql
  /** The same, for callers that want to know at once whether the database can be reached. */
  readonly impatient: Sql
  readonly notifications: Notifications
  /** A new connection for commits. Tries until there is one. Throws `storage_failed` after `waitMs`, or when it is aborted. */
  connectWriter(waitMs?: number): Promise<Connection>
  /** How many of them were made. */
  readonly writersMade: number
  /** A new connection with these settings. Statements on it are given up after `answerWithinMs`. Waits like `reads`. */
  connect(settings: Settings, answerWithinMs?: number): Promise<Connection>
  /** False from a failed attempt to reach the database until one that works. */
  readonly isUp: boolean
  /** The connections of `reads` and `statements`. */
  connections(): StoreConnections
  /** Frees what an idle process does not need. */
  rest(): void
  /**
   * The process ends: from now on nobody waits for a database that is away, also those who do already. One that hangs is left when it
   * has not answered for a few seconds: what is under way then fails, and so does what follows.
   */
  leave(): void
  readonly isLeaving: boolean
  close(): Promise<void>
}

export interface DatabaseOptions {
  /** `postgres://user:password@host:5432/database`. May name several hosts: the first that is not a standby is used. */
  url: string
  clock: Clock
  log: Logger
  /** Connections for reads. */
  readers: number
  /** How long callers wait for a database that is away. */
  waitMs: number
}

const IMPATIENT_MS = 1_000
/** There is much to tidy up at the end, and whoever stops a server does not wait for long. */
const LEAVING_MS = 500
const HANGS_MS = 5_000
const ASK_EVERY_MS = 500
const stillThere = { name: 'still_there', text: 'SELECT 1' }

/** A statement may take this long. What hangs longer is given up. */
const STATEMENT_MS = 30_000

const readerSettings: Settings = {
  statement_timeout: STATEMENT_MS,
  lock_timeout: 5_000,
  idle_in_transaction_session_timeout: 10_000,
  // Whoever has waited for a lock must see what was committed meanwhile, whatever the default of this database is.
  default_transaction_isolation: 'read committed',
  // What a statement of its own has written is on disk when it is acknowledged.
  synchronous_commit: 'on',
  // Most statements are short, and compiling them takes longer than running them.
  jit: 'off',
}

/**
 * A process that is paused in a transaction loses it, so that others do not wait for its locks. Others wait a little longer than that.
 *
 * The plans of these statements must not depend on statistics, which lag behind: they always use the indexes.
 */
const writerSettings: Settings = {
  ...readerSettings,
  lock_timeout: 7_000,
  idle_in_transaction_session_timeout: 5_000,
  synchronous_commit: 'off',
  plan_cache_mode: 'force_generic_plan',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_seqscan: 'off',
}

/** 50 ms, doubled with each try up to 2 s. */
const backoff = (tries: number): number => Math.min(50 * 2 ** tries, 2_000)

export function openDatabase(options: DatabaseOptions): Database {
  const { url, clock, log, readers, waitMs } = options
  const connectOnce = createConnect(url)
  const closing = new AbortController()
  const leaving = new AbortController()
  let open: Connection[] = []
  let hasLeft = false
  let hasWorked = false
  let writersMade = 0
  let isUp = true
  let reconnects = 0

  async function connect(settings: Settings, answerWithinMs = STATEMENT_MS + 5_000): Promise<Connection> {
    try {
      const connection = hasLeft ? null : await connectOnce(settings, answerWithinMs)
      if (connection === null || hasLeft) {
        connection?.destroy()
        throw new ConnectionFailed('The process has left the database.')
      }
      open = [...open.filter(({ isOpen }) => isOpen), connection]
      if (!isUp) {
        reconnects += 1
        log.info('the database is back', { database: shownStore(url) })
      }
      isUp = true
      hasWorked = true
      return connection
    } catch (error) {
      if (isUp) log.warn('the database cannot be reached', { database: shownStore(url), reason: messageOf(error) })
      isUp = false
      // What has worked can work again: in a failover, the wrong server may answer first.
      throw hasWorked && error instanceof ServerError ? new ConnectionFailed(error) : error
    }
  }

  /** Tries again as long as the database is away. */
  async function patiently<T>(work: () => Promise<T>, patience: number): Promise<T> {
    const since = clock.mono()
    for (let tries = 0; ; tries += 1) {
      try {
        return await work()
      } catch (error) {
        const isLast = leaving.signal.aborted
        const left = since + (isLast ? Math.min(patience, LEAVING_MS) : patience) - clock.mono()
        if (!isAway(error) || left <= 0 || hasLeft || closing.signal.aborted) throw databaseError(error)
        const end = isLast ? closing.signal : AbortSignal.any([closing.signal, leaving.signal])
        await sleep(clock, Math.min(backoff(tries), left), end)
      }
    }
  }

  const connectReader = () => connect(readerSettings)
  const pool = createPool({ connect: connectReader, size: readers, waitMs, clock })
  const notifications = createNotifications({ connect: connectReader, clock, backoff })

  const reads: Sql = {
    rows: (statement, values) => patiently(() => pool.use((connection) => connection.rows(statement, values)), waitMs),
  }
  const statementsWithin = (patience: number): Sql => ({
    rows(statement, values) {
      let sent = false
      return patiently(async () => {
        if (sent) throw new ServerError('storage_failed', 'The connection to the database was lost. Try again.')
        return pool.use((connection) => {
          sent = true
          return connection.rows(statement, values)
        })
      }, patience)
    },
  })

  async function leaveIfItHangs(): Promise<void> {
    let answeredAt = clock.mono()
    while (clock.mono() - answeredAt < HANGS_MS) {
      const asked = clock.mono()
      const noteAnswer = () => {
        answeredAt = Math.max(answeredAt, asked)
      }
      pool.use((connection) => connection.rows(stillThere)).then(noteAnswer, () => {})
      await sleep(clock, ASK_EVERY_MS, closing.signal)
      if (closing.signal.aborted) return
    }
    hasLeft = true
    for (const connection of open) connection.destroy()
    await pool.close()
  }

  return {
    reads,
    statements: statementsWithin(waitMs),
    impatient: statementsWithin(IMPATIENT_MS),
    notifications,
    async connectWriter(patience = waitMs) {
      const connection = await patiently(() => connect(writerSettings), patience)
      writersMade += 1
      return connection
    },
    get writersMade() {
      return writersMade
    },
    connect: (settings, answerWithinMs) => patiently(() => connect(settings, answerWithinMs), waitMs),
    get isUp() {
      return isUp
    },
    connections: () => ({ ...pool.figures(), reconnects }),
    rest: pool.rest,
    leave() {
      leaving.abort()
      void leaveIfItHangs()
    },
    get isLeaving() {
      return leaving.signal.aborted
    },
    async close() {
      closing.abort()
      await Promise.all([pool.close(), notifications.close()])
    },
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
