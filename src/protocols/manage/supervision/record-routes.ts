// Prompts, alerts and waits of agents elsewhere: what they ask, and what a person answers.

import { z } from 'zod'
import type { ErrorCode } from '../../../domain/errors.ts'
import { type ActionName, recordKinds, statusesOf, wireStatus } from '../../../domain/records/record-kinds.ts'
import type { Engine } from '../../../engine/engine.ts'
import { answer, page } from '../../../http/describe-answer.ts'
import type { Request, Route, RouteDescription } from '../../../http/route.ts'
import type { Oversight } from '../../../supervision/oversight/oversight.ts'
import type { AnswerRecord, GivenAnswer } from '../../../supervision/records/answer-record.ts'
import type { Records, ShownKind } from '../../../supervision/records/records.ts'
import { callerOf, viewerOf } from '../../shared/request/caller.ts'
import { decodePage, nextLink, parsePlace, printPlace } from '../../shared/request/page.ts'
import { encodeRecord } from '../records/encode-record.ts'
import { viewedSchemas } from '../records/record-schemas.ts'
import { createRecordViews } from '../records/record-views.ts'
import {
  commandErrors,
  listQuery,
  NoBodySchema,
  NudgeSchema,
  PromptAnswerSchema,
  supervisionTag,
  WaitAnswerSchema,
} from './command-schema.ts'
import { decodeBody, decodeOwner, decodeSession, decodeStatus, decodeWaitAnswer, idIn } from './decode.ts'

export interface RecordRoutesDeps {
  engine: { sessions: Pick<Engine['sessions'], 'overview'> }
  records: Records
  answer: AnswerRecord
  oversight: Pick<Oversight, 'listing' | 'foreignSession'>
}

/** What is said of a kind. Its list and its page are the same for all. */
interface KindRoutes {
  list: string
  answers: readonly Answering[]
}

interface AnswerDescription extends Pick<RouteDescription, 'description' | 'body'> {
  /** What comes back: in words, and how it differs from the example of the record. */
  answers: [string, object]
}

interface Answering {
  /** Behind the path of the record. */
  at: string
  summary: string
  describe: AnswerDescription
  read(request: Request): Promise<GivenAnswer>
}

const PAGE = { max: 100, fallback: 50 }
const read = { method: 'GET', door: null, role: 'user', body: 'none' } as const
const command = { method: 'POST', door: null, role: 'operator', body: 'control' } as const
const decided = { decided_at: '2026-11-15T09:01:00.000Z', decided_by: 'ada', decided_channel: 'http' }
const answerErrors: readonly ErrorCode[] = [...commandErrors, 'record_not_found', 'record_decided']

/** `?status=` of a list, beside `waiting` and `all`. What is pending and has another word on the wire is asked for as `waiting`. */
const statusFilter = (kind: ShownKind) => statusesOf(kind).filter((status) => wireStatus(kind, status) === status)

const describeList = (kind: ShownKind): RouteDescription => ({
  tag: supervisionTag,
  description: 'Newest first. An operator sees all, others see those of their own sessions.',
  query: {
    status: z
      .enum(['waiting', ...statusFilter(kind), 'all'])
      .optional()
      .describe('Default: `waiting`, what still wants something of a person.'),
    ...listQuery,
  },
  responses: { 200: page(recordKinds[kind].wire.path, viewedSchemas[kind]) },
  errors: ['invalid_request', 'forbidden', 'storage_failed'],
})

const params = (kind: ShownKind) => ({
  id: z.string().describe(`Id of the ${recordKinds[kind].wire.kind}: a UUID or a ULID.`),
})

const describeShow = (kind: ShownKind): RouteDescription => ({
  tag: supervisionTag,
  params: params(kind),
  responses: { 200: answer(`The ${recordKinds[kind].wire.kind}.`, viewedSchemas[kind]) },
  errors: ['malformed_id', 'record_not_found', 'storage_failed'],
})

const describeAnswer = (
  kind: ShownKind,
  { answers: [words, differing], ...rest }: AnswerDescription,
): RouteDescription => ({
  tag: supervisionTag,
  params: params(kind),
  responses: { 200: answer(words, viewedSchemas[kind], differing) },
  errors: answerErrors,
  ...rest,
})

const dismissed: AnswerDescription['answers'] = ['The dismissed alert.', { ...decided, status: 'dismissed' }]

export function createRecordRoutes(deps: RecordRoutesDeps): Route[] {
  const { engine, records, answer, oversight } = deps
  const recordViews = createRecordViews(engine)

  /** Operators see the records of all owners, and the audit trail says that they looked. */
  function lister(kind: ShownKind): Route['handle'] {
    const { path } = recordKinds[kind].wire
    const statuses = statusFilter(kind)
    return async (request, reply) => {
      const viewer = viewerOf(request.principal)
      const { limit, before } = decodePage(request, PAGE)
      const status = decodeStatus(request, statuses)
      const [owner, sessionId] = [decodeOwner(request), decodeSession(request)]
      const isOwn = owner === viewer.owner || (owner === undefined && viewer.by.role !== 'operator')
      if (!isOwn) await oversight.listing(viewer, owner ?? '*')
      const found = await records.list(kind, {
        by: viewer.by,
        limit: limit + 1,
        ...(owner === undefined ? {} : { owner }),
        ...(sessionId === undefined ? {} : { sessionId }),
        ...(before === undefined ? {} : { before: parsePlace(before) }),
        ...(status === 'all' ? {} : status === 'waiting' ? { isWaiting: true } : { status }),
      })
      const shown = found.slice(0, limit)
      const last = found.length > limit ? shown.at(-1) : undefined
      const next = last === undefined ? null : printPlace(last)
      const views = await recordViews.many(shown)
      const encoded = shown.map((one) => ({ ...encodeRecord(one), view: views(one) }))
      reply.json(200, { [path]: encoded }, nextLink(`/${path}`, request.query, next))
    }
  }

  const shower =
    (kind: ShownKind): Route['handle'] =>
    async (request, reply) => {
      const viewer = viewerOf(request.principal)
      const record = await records.get(kind, viewer.by, idIn(request))
      reply.note({ session_id: record.sessionId })
      await oversight.foreignSession(viewer, record.sessionId)
      reply.json(200, { ...encodeRecord(record), view: await recordViews.one(record) })
    }

  const answerer =
    (kind: ShownKind, read: Answering['read']): Route['handle'] =>
    async (request, reply) => {
      const given = await read(request)
      const { record } = await answer[kind](callerOf(request.principal, request.channel), idIn(request), given)
      reply.note({ session_id: record.sessionId })
      reply.json(200, { ...encodeRecord(record), view: await recordViews.one(record) })
    }

  const kinds: Record<ShownKind, KindRoutes> = {
    prompt: {
      list: 'List prompts: what agents ask their operators',
      answers: [
        {
          at: '',
          summary: 'Answer a prompt',
          describe: {
            description:
              'The agent gets the answer as the result of its call. The first answer counts; a later one is told who answered what and when. Only the owner of the session and admins may answer.',
            body: {
              schema: PromptAnswerSchema,
              examples: {
                continue: { decision: 'continue' },
                refine: { decision: 'refine', instruction: 'Update the docs, but leave the changelog.' },
                stop: { decision: 'stop', reason: 'Enough for today.' },
              },
            },
            answers: ['The answered prompt.', { ...decided, status: 'decided', decision: 'continue' }],
          },
          async read(request) {
            const { decision, instruction, reason } = await decodeBody(request, PromptAnswerSchema)
            return {
              action: decision,
              ...(instruction === undefined ? {} : { text: instruction }),
              ...(reason === undefined ? {} : { reason }),
            }
          },
        },
      ],
    },
    standby: {
      list: 'List waits: agents that stand by for an instruction',
      answers: [
        {
          at: '',
          summary: 'Tell a waiting agent what to do',
          describe: {
            description: 'Wakes an agent that stands by. The first answer counts.',
            body: {
              schema: WaitAnswerSchema,
              examples: {
                instruct: { instruction: 'Now write the tests.' },
                'go on': {},
                stop: { stop: true },
              },
            },
            answers: ['The ended wait.', { ...decided, status: 'resumed', instruction: 'Now write the tests.' }],
          },
          async read(request) {
            const text = await decodeWaitAnswer(request)
            return text === null ? { action: 'resume' } : { action: 'resume', text }
          },
        },
      ],
    },
    alert: {
      list: 'List alerts: agents that have gone silent',
      answers: [
        {
          at: '/nudge',
          summary: 'Nudge a silent agent',
          describe: {
            description:
              'Pushes a nudge through an open connection of the agent. If none is open, the nudge goes out with the result of its next call; `nudged_by` says which.',
            body: {
              schema: NudgeSchema,
              examples: { 'the usual text': {}, 'own words': { message: 'Skip the benchmark and go on.' } },
            },
            answers: [
              'The alert.',
              {
                status: 'nudged',
                nudge_count: 1,
                nudge_message: 'Are you still there?',
                last_nudge_at: '2026-11-15T09:01:00.000Z',
                nudged_by: 'notification',
              },
            ],
          },
          async read(request) {
            const { message } = await decodeBody(request, NudgeSchema)
            return message === undefined ? { action: 'nudge' } : { action: 'nudge', text: message }
          },
        },
        {
          at: '/dismiss',
          summary: 'Say that the silence is fine',
          describe: {
            description: 'The silence is fine. It counts anew from here.',
            body: { schema: NoBodySchema, examples: { dismiss: {} } },
            answers: dismissed,
          },
          read: (request) => nothingBut('dismiss', request),
        },
        {
          at: '/stop',
          summary: 'End the session of a silent agent',
          describe: {
            description: 'Terminates the session of the silent agent. What it asked is interrupted.',
            body: { schema: NoBodySchema, examples: { stop: {} } },
            answers: dismissed,
          },
          read: (request) => nothingBut('stop', request),
        },
      ],
    },
  }

  return (Object.keys(kinds) as ShownKind[]).flatMap((kind): Route[] => {
    const { list, answers } = kinds[kind]
    const { kind: name, path } = recordKinds[kind].wire
    return [
      { ...read, path: `/${path}`, summary: list, describe: () => describeList(kind), handle: lister(kind) },
      {
        ...read,
        path: `/${path}/:id`,
        summary: `Show one ${name}`,
        describe: () => describeShow(kind),
        handle: shower(kind),
      },
      ...answers.map(({ at, summary, describe, read }) => ({
        ...command,
        path: `/${path}/:id${at}`,
        summary,
        describe: () => describeAnswer(kind, describe),
        handle: answerer(kind, read),
      })),
    ]
  })
}

async function nothingBut(action: ActionName, request: Request): Promise<GivenAnswer> {
  await decodeBody(request, NoBodySchema)
  return { action }
}
