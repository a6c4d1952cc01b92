import { setTimeout as pause } from 'node:timers/promises'
import { askOnce } from '../../postgres/test-database.ts'

/** Looks into the database for runs whose owner has stopped renewing its lease. */
export interface TakeoverWatch {
  /** Until when, in milliseconds since the watch began, there was such a run. 0: there was none. */
  stop(): Promise<number>
}

const ORPHANS = `SELECT count(*) AS n FROM runs LEFT JOIN leases ON leases.owner = runs.lease_owner
  WHERE status = 'running' AND coalesce(until, 0) < extract(epoch FROM clock_timestamp()) * 1000`

export function watchTakeover(url: string): TakeoverWatch {
  const began = performance.now()
  let last = 0
  let isOver = false
  let left = true

  async function look(): Promise<void> {
    // It goes on until it has seen that there is none.
    while (!isOver || left) {
      const [row] = await askOnce(url, ORPHANS).catch(() => [])
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
