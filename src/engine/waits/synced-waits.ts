import { parseUuid } from '../../domain/ids.ts'
import type { AnyRecord } from '../../domain/records/record.ts'
import type { SessionLog } from '../../log/session-log.ts'
import type { WaitQuery, WaitReads } from '../../store/ports/waits.ts'

/** More waits than a session ever has at one time. */
export const MOST_WAITS = 1_000

export interface SyncedWaits {
  /** Null also for an id that cannot be one. */
  get(id: string): Promise<AnyRecord | null>
  list<K extends AnyRecord['wait']>(query: WaitQuery & { wait: K }): Promise<Extract<AnyRecord, { wait: K }>[]>
}

/** Waits as they may be shown: on disk, so that whoever saw a question or an answer finds it again after a power cut. */
export function createSyncedWaits(waits: WaitReads, log: Pick<SessionLog, 'synced'>): SyncedWaits {
  return {
    async get(id) {
      const uuid = parseUuid(id)
      const wait = uuid === null ? null : await waits.get(uuid)
      if (wait !== null) await log.synced(wait.sessionId)
      return wait
    },

    async list<K extends AnyRecord['wait']>(query: WaitQuery & { wait: K }) {
      const found = await waits.list(query)
      for (const sessionId of new Set(found.map((wait) => wait.sessionId))) await log.synced(sessionId)
      return found.filter((wait): wait is Extract<AnyRecord, { wait: K }> => wait.wait === query.wait)
    },
  }
}
