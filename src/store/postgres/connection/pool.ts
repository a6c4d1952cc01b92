// A few connections for statements that stand alone.

import type { Clock } from '../../../domain/clock.ts'
import { ServerError } from '../../../domain/errors.ts'
import type { StoreConnections } from '../../store.ts'
import type { Connection } from './connect.ts'
import { isAway } from './database-error.ts'

export interface PoolOptions {
  connect(): Promise<Connection>
  size: number
  waitMs: number
  clock: Clock
}

interface Waiter {
  give(connection: Connection): void
  fail(error: unknown): void
}

export function createPool({ connect, size, waitMs, clock }: PoolOptions) {
  const idle: Connection[] = []
  const waiting: Waiter[] = []
  let count = 0
  let closed = false

  function take(): Promise<Connection> {
    const free = nextIdle()
    if (free !== undefined) return Promise.resolve(free)
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        give(connection) {
          stop()
          resolve(connection)
        },
        fail(error) {
          stop()
          waiting.splice(waiting.indexOf(waiter), 1)
          reject(error)
        },
      }
      const stop = clock.after(waitMs, () => waiter.fail(tooBusy()), true)
      waiting.push(waiter)
      void grow()
    })
  }

  function nextIdle(): Connection | undefined {
    while (idle.length > 0) {
      const connection = idle.pop()
      if (connection?.isOpen === true) return connection
    }
    return undefined
  }

  /** Makes one more connection for those who wait. */
  async function grow(): Promise<void> {
    if (count >= size || closed) return
    count += 1
    try {
      const connection = await connect()
      connection.onLost(() => {
        const at = idle.indexOf(connection)
        if (at >= 0) idle.splice(at, 1)
        count -= 1
      })
      giveBack(connection)
    } catch (error) {
      count -= 1
      waiting[0]?.fail(error)
    }
  }

  function giveBack(connection: Connection): void {
    if (!connection.isOpen) {
      // Somebody may have waited for just this one.
      if (waiting.length > 0) void grow()
      return
    }
    if (closed) {
      drop(connection)
      return
    }
    const next = waiting.shift()
    if (next === undefined) idle.push(connection)
    else next.give(connection)
  }

  function drop(connection: Connection): void {
    count -= 1
    void connection.close().catch(() => {})
  }

  return {
    /** Gives the work a connection that nobody else uses meanwhile. Waits for one. Throws `storage_failed` after `waitMs`. */
    async use<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
      if (closed) throw new ServerError('storage_failed', 'The store is closed.')
      const connection = await take()
      try {
        return await work(connection)
      } catch (error) {
        // A connection that lost its server, or that got no answer in time, is of no use to anybody.
        if (isAway(error) && connection.isOpen) {
          connection.destroy()
          count -= 1
        }
        throw error
      } finally {
        giveBack(connection)
      }
    },
    figures: (): Omit<StoreConnections, 'reconnects'> => ({
      open: count,
      idle: idle.length,
      waiting: waiting.length,
      most: size,
    }),
    /** Closes the connections that nobody uses. */
    rest(): void {
      for (const connection of idle.splice(0)) drop(connection)
    },
    async close(): Promise<void> {
      closed = true
      for (const { fail } of [...waiting]) fail(new ServerError('storage_failed', 'The store is closed.'))
      const closing = idle.splice(0).map((connection) => connection.close().catch(() => {}))
      count -= closing.length
      await Promise.all(closing)
    },
  }
}

const tooBusy = (): ServerError =>
  new ServerError('storage_failed', 'All connections to the database are busy. Try again soon.')
