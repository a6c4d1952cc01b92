// What each kind of record is on the wire: its schema, and how it is encoded. The inbox and the feed are made of it.

import type { z } from 'zod'
import type { PersonRecord, RecordOf } from '../../../domain/records/record.ts'
import type { PersonKind, recordKinds } from '../../../domain/records/record-kinds.ts'
import { approvalView } from '../approvals/encode.ts'
import { ApprovalSchema } from '../approvals/schema.ts'
import { alertView, promptView, standbyView } from '../supervision/encode.ts'
import { AlertSchema, PromptSchema, StandbySchema } from '../supervision/schema.ts'

interface Look {
  /** For a page that shows what it gets, so it gets no secrets. */
  isMasked: boolean
}

interface Shape<Kind extends PersonKind> {
  schema: z.ZodObject
  view: (record: RecordOf<Kind>, look: Look) => object
  /** The requests that answer it, for the document. */
  answer: string
}

export const recordShapes = {
  approval: { schema: ApprovalSchema, view: approvalView, answer: '`POST /approvals/{id}`' },
  prompt: { schema: PromptSchema, view: promptView, answer: '`POST /prompts/{id}`' },
  standby: { schema: StandbySchema, view: standbyView, answer: '`POST /waits/{id}`' },
  alert: { schema: AlertSchema, view: alertView, answer: '`POST /alerts/{id}/nudge`, `dismiss` or `stop`' },
} satisfies { [Kind in PersonKind]: Shape<Kind> }

export type ShapeOf<Kind extends PersonKind> = (typeof recordShapes)[Kind]['schema']['shape']
export type WireOf<Kind extends PersonKind> = (typeof recordKinds)[Kind]['wire']

export function encodeRecord(record: PersonRecord, look: Look): object {
  const { view } = recordShapes[record.wait]
  return (view as (one: PersonRecord, look: Look) => object)(record, look)
}
