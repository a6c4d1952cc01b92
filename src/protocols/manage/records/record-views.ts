// Records in words for the wire, with the request that each answer is.

import type { Approval, PersonRecord } from '../../../domain/records/record.ts'
import type { SessionOverview } from '../../../domain/session-overview.ts'
import { unreachable } from '../../../domain/unreachable.ts'
import type { Engine } from '../../../engine/engine.ts'
import { describe } from '../../../supervision/records/describe-record.ts'
import type { RecordAction, RecordScene } from '../../../supervision/records/record-view.ts'
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
      return viewOf(record, { ...sceneOf(overview), ...(diff === undefined ? {} : { diff }) })
    },
    async many(records) {
      const overviews = await sessions.overview([...new Set(records.map(({ sessionId }) => sessionId))])
      const scenes = new Map(overviews.map((one) => [one.id, sceneOf(one)]))
      return (record) => ({ ...viewOf(record, scenes.get(record.sessionId) ?? sceneOf(undefined)), body: [] })
    },
  }
}

const sceneOf = (overview: SessionOverview | undefined): RecordScene => ({
  folder: overview?.elsewhere?.workspaceRoot ?? null,
  title: overview === undefined || overview.title === '' ? null : overview.title,
  status: overview?.elsewhere?.status ?? null,
  prompt: overview?.elsewhere?.prompt ?? null,
})

function viewOf(record: PersonRecord, scene: RecordScene): RecordView {
  const view = describe(record, scene)
  return { ...view, actions: view.actions.map((action) => ({ ...action, request: requestFor(record, action) })) }
}

function requestFor(record: PersonRecord, { name, takes }: RecordAction): RecordView['actions'][number]['request'] {
  const takesText = takes === 'text' || takes === 'optional_text' || takes === 'note'
  const text = (field: string): string | null => (takesText ? field : null)
  switch (record.wait) {
    case 'approval':
      return { path: `/approvals/${record.id}`, body: decisionBody(record, name), text: text('reason') }
    case 'prompt':
      return {
        path: `/prompts/${record.id}`,
        body: { decision: name },
        text: text(name === 'stop' ? 'reason' : 'instruction'),
      }
    case 'standby':
      return {
        path: `/waits/${record.id}`,
        body: name === 'stop' ? { stop: true } : {},
        text: text('instruction'),
      }
    case 'alert':
      return { path: `/alerts/${record.id}/${name}`, body: {}, text: text('message') }
    default:
      return unreachable(record)
  }
}

/** The decision is bound to what is shown. */
const decisionBody = ({ digest }: Approval, name: RecordAction['name']) => ({
  decision: name === 'answer' ? 'respond' : name === 'reject' ? 'reject' : 'approve',
  digest,
})
