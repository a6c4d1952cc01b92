// All that the wire says of one kind of record. Each kind is a file of `kinds/`; `kinds-on-wire.ts` has all of them.

import { z } from 'zod'
import { isoTime } from '../../../domain/clock.ts'
import {
  nobodyWaitsSince,
  type PersonRecord,
  type RecordOf,
  type SupervisedRecord,
} from '../../../domain/records/record.ts'
import { type ActionName, type PersonKind, recordKinds } from '../../../domain/records/record-kinds.ts'
import type { Request, RouteDescription } from '../../../http/route.ts'
import type { GivenAnswer } from '../../../supervision/records/answer-record.ts'
import { describe } from '../../../supervision/records/describe-record.ts'
import type { RecordAction, RecordScene, RecordView as Words } from '../../../supervision/records/record-view.ts'
import { decodeBody } from '../supervision/decode.ts'
import { NoBodySchema } from '../supervision/schema.ts'
import type { RecordView } from './schema.ts'

export interface KindOnWire<Kind extends PersonKind> {
  /** The fields of the record itself. */
  shape: z.ZodRawShape
  /** With its words. */
  schema: z.ZodObject
  encode(record: RecordOf<Kind>, look: Look): object
  /** The request that an answer is. */
  request: Requests<Kind>
  /** Null: approvals have routes of their own. */
  routes: KindRoutes | null
}

export interface Look {
  /** For a page that shows what it gets, so it gets no secrets. */
  isMasked?: boolean
}

/** `at`: behind the path of the record. `text`: the field for the words of the person. */
export type Requests<Kind extends PersonKind> = (
  record: RecordOf<Kind>,
  name: ActionName,
) => { at?: string; body: Record<string, unknown>; text: string }

/** What is said of a kind. Its list and its page are the same for all. */
export interface KindRoutes {
  list: string
  answers: readonly Answering[]
}

export interface Answering {
  /** Behind the path of the record. */
  at: string
  summary: string
  describe: AnswerDescription
  read(request: Request): Promise<GivenAnswer>
}

export interface AnswerDescription extends Pick<RouteDescription, 'description' | 'body'> {
  /** What comes back: in words, and how it differs from the example of the record. */
  answers: [string, object]
}

/** For the example of an answer. */
export const decided = { decided_at: '2026-11-15T09:01:00.000Z', decided_by: 'ada', decided_channel: 'http' }

/** An answer that has nothing but its path. */
export const plainAnswer = (
  action: ActionName,
): Pick<Answering, 'read'> & Required<Pick<AnswerDescription, 'body'>> => ({
  body: { schema: NoBodySchema, examples: { [action]: {} } },
  async read(request) {
    await decodeBody(request, NoBodySchema)
    return { action }
  },
})

export function withRequestsOf<Kind extends PersonKind>(
  record: PersonRecord & { wait: Kind },
  view: Words,
  request: Requests<Kind>,
): RecordView {
  const requestFor = ({ name, takes }: RecordAction) => {
    const { at = '', body, text } = request(record as PersonRecord as RecordOf<Kind>, name)
    const takesText = takes === 'text' || takes === 'optional_text' || takes === 'note'
    return { path: `/${recordKinds[record.wait].wire.path}/${record.id}${at}`, body, text: takesText ? text : null }
  }
  return { ...view, actions: view.actions.map((action) => ({ ...action, request: requestFor(action) })) }
}

const time = z.iso.datetime()

export const nobodyWaits = time
  .nullable()
  .describe(
    'Since when no call of the agent waits for the answer: it was cancelled, or its program has ended. Null: one waits, or the agent was told to ask again.',
  )

/** What every record of an agent elsewhere has, apart from an approval. */
export const elsewhereShape = {
  session_id: z.string(),
  owner: z.string(),
  host: z.string(),
  created_at: time,
  decided_at: time.nullable(),
  decided_by: z.string().nullable().describe('A person, or `timeout`.'),
  decided_channel: z.string().nullable().describe('The way the answer came: `http`, `ctl`, …'),
  nobody_waits_since: nobodyWaits,
  message_refs: z.record(z.string(), z.string()).describe('The messages that announced it, by channel.'),
}

/** Those of them that have another name in the record. */
export const elsewhereFields = (record: SupervisedRecord) => ({
  host: record.supervised.host,
  decided_channel: record.decidedVia,
  nobody_waits_since: sinceWhenNobodyWaits(record),
  message_refs: record.messageRefs,
})

export function sinceWhenNobodyWaits(record: PersonRecord): string | null {
  const since = nobodyWaitsSince(record)
  return since === null ? null : isoTime(since)
}

/** An open record, for the examples. */
export const sample = {
  id: '0192f3a1-7b2c-7def-8abc-0123456789ab',
  status: 'pending',
  sessionId: '0192f3a1-7b2c-7def-8abc-0123456789ac',
  owner: 'ada',
  agent: 'assistant',
  createdAt: Date.parse('2026-11-15T09:00:00.000Z'),
  expiresAt: null,
  runId: '0192f3a1-7b2c-7def-8abc-0123456789ad',
  callId: 'call_0192f3a1-7b2c-7def-8abc-0123456789ae',
  tool: '',
  arguments: '{}',
  lane: null,
  continuationRunId: null,
  messageRefs: {},
  decidedAt: null,
  decidedBy: null,
  decidedVia: null,
  reason: null,
} as const
export const askedElsewhere = { host: 'claude-code', contentKey: '', returnedAt: null }

const sampleScene: RecordScene = { folder: '/home/ada/shop', title: 'Renew the shop', prompt: null }

/** An example for the document: the record as it is sent, with its words. */
export const exampleOf = <Kind extends PersonKind, Wire extends object>(
  record: PersonRecord & { wait: Kind },
  encoded: Wire,
  request: Requests<Kind>,
  scene = sampleScene,
): Wire & { view: RecordView } => ({ ...encoded, view: withRequestsOf(record, describe(record, scene), request) })
