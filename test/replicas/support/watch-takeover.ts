import { setTimeout as pause } from 'node:timers/promises'
import { askOnce } from '../../postgres/test-database.ts'

/**
 * Looks into the database for runs whose owner has stopped renewing its lease, among those that execute when the watch begins: a replica
 * that was paused begins what came meanwhile before it renews its lease.
 */
export interface TakeoverWatch {
  /** Until when, in milliseconds since the watch began, there was such a run. 0: there was none. */
  stop(): Promise<number>
}

const RUNNING = `SELECT coalesce(string_agg(quote_literal(id), ', '), '''''') AS ids FROM runs WHERE status = 'running'`
const orphans = (ids: string) => `SELECT count(*) AS n FROM runs LEFT JOIN leases ON leases.owner = runs.lease_owner
  WHERE runs.id IN (${ids}) AND status = 'running' AND coalesce(until, 0) < extract(epoch FROM clock_timestamp()) * 1000`

export function watchTakeover(url: string): TakeoverWatch {
  const began = performance.now()
  let last = 0
  let isOver = false
  let left = true

  async function look(): Promise<void> {
    const [running] = await askOnce(url, RUNNING)
    // It goes on until it has seen that there is none.
    while (!isOver || left) {
      const [row] = await askOnce(url, orphans(String(running?.ids))).catch(() => [])
      left = row !== undefined && Number(row.n) > 0
      if (left) last = performance.now() - began
      await pause(200)
    }
  }
  const looking = look()

  return {
    async stop() {
      isOver = true
      await looking
      return last
    },
  }
}
