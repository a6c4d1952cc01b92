// For the people who command agents elsewhere: what these agents ask, and what becomes of their sessions.

import { z } from 'zod'
import type { ErrorCode } from '../../../domain/errors.ts'
import { personKinds, recordKinds, statusesOf, wireStatus } from '../../../domain/records/record-kinds.ts'
import { answer, page } from '../../../http/describe-answer.ts'
import type { Route, RouteDescription } from '../../../http/route.ts'
import type { Oversight } from '../../../supervision/oversight/oversight.ts'
import type { AnswerRecord } from '../../../supervision/records/answer-record.ts'
import type { ReadScenes } from '../../../supervision/records/record-scenes.ts'
import type { Records, ShownKind } from '../../../supervision/records/records.ts'
import { callerOf, viewerOf } from '../../shared/request/caller.ts'
import { nextLink, printPlace } from '../../shared/request/page.ts'
import type { AnswerDescription, Answering } from '../records/kind-on-wire.ts'
import { createRecordViews, encodeRecord, kindsOnWire } from '../records/kinds-on-wire.ts'
import { decodeList, decodeStatus, idIn } from './decode.ts'
import { commandErrors, listQuery, supervisionTag } from './schema.ts'
import { createSupervisedSessionRoutes, type SupervisedSessionRoutesDeps } from './session-routes.ts'
import { createWorkRoutes, type WorkRoutesDeps } from './work-routes.ts'

type SupervisionRoutesDeps = RecordRoutesDeps & SupervisedSessionRoutesDeps & WorkRoutesDeps

export const createSupervisionRoutes = (deps: SupervisionRoutesDeps): Route[] => [
  ...createRecordRoutes(deps),
  ...createSupervisedSessionRoutes(deps),
  ...createWorkRoutes(deps),
]

// Lists and pages of what agents elsewhere ask, and its answers. `records/kinds` says what is special about each kind.

interface RecordRoutesDeps {
  readScenes: ReadScenes
  records: Records
  answer: AnswerRecord
  oversight: Pick<Oversight, 'listing' | 'foreignSession'>
}

const read = { method: 'GET', door: null, role: 'user', body: 'none' } as const
const command = { method: 'POST', door: null, role: 'operator', body: 'control' } as const
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
  responses: { 200: page(recordKinds[kind].wire.path, kindsOnWire[kind].schema) },
  errors: ['invalid_request', 'forbidden', 'storage_failed'],
})

const params = (kind: ShownKind) => ({
  id: z.string().describe(`Id of the ${recordKinds[kind].wire.kind}: a UUID or a ULID.`),
})

const describeShow = (kind: ShownKind): RouteDescription => ({
  tag: supervisionTag,
  params: params(kind),
  responses: { 200: answer(`The ${recordKinds[kind].wire.kind}.`, kindsOnWire[kind].schema) },
  errors: ['malformed_id', 'record_not_found', 'storage_failed'],
})

const describeAnswer = (
  kind: ShownKind,
  { answers: [words, differing], ...rest }: AnswerDescription,
): RouteDescription => ({
  tag: supervisionTag,
  params: params(kind),
  responses: { 200: answer(words, kindsOnWire[kind].schema, differing) },
  errors: answerErrors,
  ...rest,
})

function createRecordRoutes(deps: RecordRoutesDeps): Route[] {
  const { readScenes, records, answer, oversight } = deps
  const recordViews = createRecordViews(readScenes)

  /** Operators see the records of all owners, and the audit trail says that they looked. */
  function lister(kind: ShownKind): Route['handle'] {
    const { path } = recordKinds[kind].wire
    const statuses = statusFilter(kind)
    return async (request, reply) => {
      const status = decodeStatus(request, statuses)
      const { limit, ...query } = await decodeList(request, oversight)
      const found = await records.list(kind, {
        ...query,
        limit: limit + 1,
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
      const viewer = viewerOf(request)
      const record = await records.get(kind, viewer.by, idIn(request))
      reply.note({ session_id: record.sessionId })
      await oversight.foreignSession(viewer, record.sessionId)
      reply.json(200, { ...encodeRecord(record), view: await recordViews.one(record) })
    }

  const answerer =
    (kind: ShownKind, read: Answering['read']): Route['handle'] =>
    async (request, reply) => {
      const given = await read(request)
      const { record } = await answer[kind](callerOf(request), idIn(request), given)
      reply.note({ session_id: record.sessionId })
      reply.json(200, { ...encodeRecord(record), view: await recordViews.one(record) })
    }

  return personKinds.flatMap((kind): Route[] => {
    const { routes } = kindsOnWire[kind]
    if (kind === 'approval' || routes === null) return []
    const { list, answers } = routes
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
      ...answers.map(({ at, summary, describe, read }: Answering) => ({
        ...command,
        path: `/${path}/:id${at}`,
        summary,
        describe: () => describeAnswer(kind, describe),
        handle: answerer(kind, read),
      })),
    ]
  })
}
