// Prompts, alerts and waits of agents elsewhere: what they ask, and what a person answers.

import type { ActionName } from '../../../domain/records/record-kinds.ts'
import { recordKinds } from '../../../domain/records/record-kinds.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { Request, Route } from '../../../http/route.ts'
import type { Oversight } from '../../../supervision/oversight/oversight.ts'
import type { AnswerRecord, GivenAnswer } from '../../../supervision/records/answer-record.ts'
import type { Records, ShownKind } from '../../../supervision/records/records.ts'
import { callerOf, viewerOf } from '../../shared/request/caller.ts'
import { parsePlace, printPlace } from '../../shared/request/list-place.ts'
import { decodePage, nextLink } from '../../shared/request/page.ts'
import { encodeRecord } from '../records/encode-record.ts'
import { createRecordViews } from '../records/record-views.ts'
import { NoBodySchema, NudgeSchema, PromptAnswerSchema } from './command-schema.ts'
import { decodeBody, decodeOwner, decodeSession, decodeStatus, decodeWaitAnswer, idIn } from './decode.ts'
import {
  answerPrompt,
  answerStandby,
  describeAnswer,
  describeList,
  describeShow,
  dismissAlert,
  nudgeAlert,
  statusFilter,
  stopAlert,
} from './describe-records.ts'

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

interface Answering {
  /** Behind the path of the record. */
  at: string
  summary: string
  describe: Parameters<typeof describeAnswer>[1]
  read(request: Request): Promise<GivenAnswer>
}

const PAGE = { max: 100, fallback: 50 }
const read = { method: 'GET', door: null, role: 'user', body: 'none' } as const
const command = { method: 'POST', door: null, role: 'operator', body: 'control' } as const

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
          describe: answerPrompt,
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
          describe: answerStandby,
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
          describe: nudgeAlert,
          async read(request) {
            const { message } = await decodeBody(request, NudgeSchema)
            return message === undefined ? { action: 'nudge' } : { action: 'nudge', text: message }
          },
        },
        {
          at: '/dismiss',
          summary: 'Say that the silence is fine',
          describe: dismissAlert,
          read: (request) => nothingBut('dismiss', request),
        },
        {
          at: '/stop',
          summary: 'End the session of a silent agent',
          describe: stopAlert,
          read: (request) => nothingBut('stop', request),
        },
      ],
    },
  }

  return (Object.keys(kinds) as ShownKind[]).flatMap((kind): Route[] => {
    const { list, answers } = kinds[kind]
    const { kind: name, path } = recordKinds[kind].wire
    return [
      { ...read, path: `/${path}`, summary: list, describe: describeList(kind), handle: lister(kind) },
      {
        ...read,
        path: `/${path}/:id`,
        summary: `Show one ${name}`,
        describe: describeShow(kind),
        handle: shower(kind),
      },
      ...answers.map(({ at, summary, describe, read }) => ({
        ...command,
        path: `/${path}/:id${at}`,
        summary,
        describe: describeAnswer(kind, describe),
        handle: answerer(kind, read),
      })),
    ]
  })
}

async function nothingBut(action: ActionName, request: Request): Promise<GivenAnswer> {
  await decodeBody(request, NoBodySchema)
  return { action }
}
