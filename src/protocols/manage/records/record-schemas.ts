// What each kind of record looks like on the wire. The inbox and the feed are made of it. The client takes its types from here, so
// this imports schemas and no encoders.

import type { z } from 'zod'
import type { PersonKind, recordKinds } from '../../../domain/records/record-kinds.ts'
import { ApprovalSchema } from '../approvals/schema.ts'
import { AlertSchema, PromptSchema, StandbySchema } from '../supervision/schema.ts'

/** With their words. */
export const viewedSchemas = {
  approval: ApprovalSchema,
  prompt: PromptSchema,
  standby: StandbySchema,
  alert: AlertSchema,
} satisfies Record<PersonKind, z.ZodObject>

/** Without their words: where these stand, the words stand beside them. */
export const recordSchemas = {
  approval: ApprovalSchema.omit({ view: true }).meta({ id: 'ApprovalRecord' }),
  prompt: PromptSchema.omit({ view: true }).meta({ id: 'PromptRecord' }),
  standby: StandbySchema.omit({ view: true }).meta({ id: 'WaitRecord' }),
  alert: AlertSchema.omit({ view: true }).meta({ id: 'AlertRecord' }),
} satisfies Record<PersonKind, z.ZodObject>

/** The requests that answer it, for the document. */
export const answerRequests: Readonly<Record<PersonKind, string>> = {
  approval: '`POST /approvals/{id}`',
  prompt: '`POST /prompts/{id}`',
  standby: '`POST /waits/{id}`',
  alert: '`POST /alerts/{id}/nudge`, `dismiss` or `stop`',
}

export type SchemaOf<Kind extends PersonKind> = (typeof recordSchemas)[Kind]
export type WireOf<Kind extends PersonKind> = (typeof recordKinds)[Kind]['wire']
