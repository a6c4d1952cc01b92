import type { AuditRecord } from '../../domain/audit.ts'
import type { SessionLog } from '../../log/session-log.ts'

/** Resolves when the record is on disk. With a key that was written before it writes nothing. One that failed is written by the next call. */
export type AuditOnce = (key: string, record: AuditRecord) => Promise<void>

/** Keys that are remembered. Who is forgotten, here or by a restart, is recorded once more. */
const REMEMBERED = 10_000

export function createAuditOnce(log: Pick<SessionLog, 'commit'>): AuditOnce {
  /** Oldest first. */
  const written = new Map<string, Promise<unknown>>()

  return async (key, record) => {
    let writing = written.get(key)
    if (writing === undefined) {
      writing = log.commit({ type: 'add_audit', audit: [record] }).catch((error: unknown) => {
        written.delete(key)
        throw error
      })
      written.set(key, writing)
      const [oldest] = written.keys()
      if (written.size > REMEMBERED && oldest !== undefined) written.delete(oldest)
    }
    await writing
  }
}
