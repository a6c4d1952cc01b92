// Records in words for the wire, with the request that each answer is.

import type { PersonRecord } from '../../../domain/records/record.ts'
import type { SessionOverview } from '../../../domain/session/session-overview.ts'
import type { Engine } from '../../../engine/engine.ts'
import { describe, describeInShort } from '../../../supervision/records/describe-record.ts'
import type { RecordScene } from '../../../supervision/records/record-view.ts'
import { withRequests } from './kinds-on-wire.ts'
import type { RecordView } from './schema.ts'

export interface RecordViews {
  /** `diff`: as people see it; null: it changes no file, or the diff is gone. */
  one(record: PersonRecord, diff?: string | null): Promise<RecordView>
  /** Of any of these records. Without what is behind a question: a list would be too long. */
  many(records: readonly PersonRecord[]): Promise<(record: PersonRecord) => RecordView>
}

export function createRecordViews({ sessions }: { sessions: Pick<Engine['sessions'], 'overview'> }): RecordViews {
  return {
    async one(record, diff) {
      const [overview] = await sessions.overview([record.sessionId])
      return withRequests(record, describe(record, { ...sceneOf(overview), ...(diff === undefined ? {} : { diff }) }))
    },
    async many(records) {
      const overviews = await sessions.overview([...new Set(records.map(({ sessionId }) => sessionId))])
      const scenes = new Map(overviews.map((one) => [one.id, sceneOf(one)]))
      return (record) =>
        withRequests(record, describeInShort(record, scenes.get(record.sessionId) ?? sceneOf(undefined)))
    },
  }
}

const sceneOf = (overview: SessionOverview | undefined): RecordScene => ({
  folder: overview?.elsewhere?.workspaceRoot ?? null,
  title: overview === undefined || overview.title === '' ? null : overview.title,
  prompt: overview?.elsewhere?.prompt ?? null,
})
