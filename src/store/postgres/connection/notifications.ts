// LISTEN and NOTIFY: short messages to all processes on one database. They only wake. One that is lost is found by a poll.

import { type Clock, sleep } from '../../../domain/clock.ts'
import type { Notifications } from '../../ports/notifications.ts'
import type { Connection } from './connect.ts'

export interface NotificationsOptions {
  connect(): Promise<Connection>
  clock: Clock
  /** How long to wait before the next try to connect. */
  backoff(tries: number): number
}

/** One connection, which is made when somebody listens or sends for the first time. While there is none, what is sent is lost. */
export function createNotifications({
  connect,
  clock,
  backoff,
}: NotificationsOptions): Notifications & { close(): Promise<void> } {
  const listeners = new Set<(payload: string | null) => void>()
  const closing = new AbortController()
  let connection: Connection | null = null
  let started: Promise<void> | null = null

  const tell = (payload: string | null): void => {
    for (const listener of [...listeners]) listener(payload)
  }

  async function stayConnected(): Promise<void> {
    for (let tries = 0; !closing.signal.aborted; tries += 1) {
      try {
        const next = await connect()
        if (await listenOn(next)) {
          tries = 0
          await lifeOf(next)
        }
      } catch {
        // The database is away. The loop tries again.
      }
      connection = null
      await sleep(clock, backoff(tries), closing.signal)
    }
  }

  /** False: nobody wants it any more. Nobody else knows this connection yet, so it is ended here if it is not used. */
  async function listenOn(next: Connection): Promise<boolean> {
    let isUsed = false
    try {
      const [[channel] = ['']] = await next.rows<[string]>(channelName)
      next.onNotification(tell)
      await next.run(`LISTEN "${channel.replaceAll('"', '""')}"`)
      isUsed = !closing.signal.aborted
    } finally {
      if (!isUsed) next.destroy()
    }
    return isUsed
  }

  function lifeOf(next: Connection): Promise<void> {
    return new Promise((resolve) => {
      next.onLost(resolve)
      if (!next.isOpen) return resolve()
      closing.signal.addEventListener('abort', () => resolve())
      connection = next
      // What was sent before this moment is lost.
      tell(null)
    })
  }

  const start = (): void => {
    started ??= stayConnected()
  }

  return {
    async send(payload) {
      start()
      // A message that cannot be sent is lost, as any message may be.
      await connection?.rows(notify, [payload]).catch(() => {})
    },
    listen(on) {
      listeners.add(on)
      start()
      return () => void listeners.delete(on)
    },
    async close() {
      listeners.clear()
      const open = connection
      closing.abort()
      await open?.close().catch(() => {})
      await started
    },
  }
}

/** Each schema of a database has a channel of its own. */
const CHANNEL = `'quarterdeck ' || current_schema()`
const channelName = { name: 'notification_channel', text: `SELECT left(${CHANNEL}, 60)` }
const notify = { name: 'notify', text: `SELECT pg_notify(left(${CHANNEL}, 60), $1)` }
