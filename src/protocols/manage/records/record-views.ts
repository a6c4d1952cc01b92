// Records in words for the wire, with the request that each answer is.

import type { PersonRecord, RecordOf } from '../../../domain/records/record.ts'
import { type ActionName, type PersonKind, recordKinds } from '../../../domain/records/record-kinds.ts'
import type { SessionOverview } from '../../../domain/session-overview.ts'
import type { Engine } from '../../../engine/engine.ts'
import { describe, describeInShort } from '../../../supervision/records/describe-record.ts'
import type { RecordAction, RecordScene, RecordView as Words } from '../../../supervision/records/record-view.ts'
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

export const withRequests = (record: PersonRecord, view: Words): RecordView => ({
  ...view,
  actions: view.actions.map((action) => ({ ...action, request: requestFor(record, action) })),
})

type Request = RecordView['actions'][number]['request']

function requestFor(record: PersonRecord, { name, takes }: RecordAction): Request {
  const { at = '', body, text } = (requests[record.wait] as (one: PersonRecord, name: ActionName) => Sent)(record, name)
  const takesText = takes === 'text' || takes === 'optional_text' || takes === 'note'
  return {
    path: `/${recordKinds[record.wait].wire.path}/${record.id}${at}`,
    body,
    text: takesText ? text : null,
  }
}

/** `at`: behind the path of the record. `text`: the field for the words of the person. */
interface Sent {
  at?: string
  body: Record<string, unknown>
  text: string
}

const requests: { [Kind in PersonKind]: (record: RecordOf<Kind>, name: ActionName) => Sent } = {
  // The decision is bound to what is shown.
  approval: ({ digest }, name) => ({ body: { decision: DECISIONS[name] ?? 'approve', digest }, text: 'reason' }),
  prompt: (_, name) => ({ body: { decision: name }, text: name === 'stop' ? 'reason' : 'instruction' }),
  standby: (_, name) => ({ body: name === 'stop' ? { stop: true } : {}, text: 'instruction' }),
  alert: (_, name) => ({ at: `/${name}`, body: {}, text: 'message' }),
}

const DECISIONS: Partial<Record<ActionName, string>> = { answer: 'respond', reject: 'reject' }
