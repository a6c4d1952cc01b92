// Prompts, alerts and waits of agents elsewhere: what they ask, and what a person answers.

import type { RecordOf, SupervisedRecord } from '../../../domain/records/record.ts'
import type { Reply, Request, Route } from '../../../http/route.ts'
import type { Oversight } from '../../../supervision/oversight/oversight.ts'
import type { Prompts } from '../../../supervision/prompts/prompts.ts'
import type { Records, ShownKind } from '../../../supervision/records/records.ts'
import type { Stalls } from '../../../supervision/stalls/stalls.ts'
import { callerOf, viewerOf } from '../../shared/request/caller.ts'
import { parsePlace, printPlace } from '../../shared/request/list-place.ts'
import { decodePage, nextLink } from '../../shared/request/page.ts'
import { NoBodySchema, NudgeSchema, PromptAnswerSchema } from './command-schema.ts'
import { decodeBody, decodeOwner, decodeSession, decodeStatus, decodeWaitAnswer, idIn } from './decode.ts'
import {
  describeAlert,
  describeAlerts,
  describeAnswerPrompt,
  describeAnswerWait,
  describeDismiss,
  describeNudgeAlert,
  describePrompt,
  describePrompts,
  describeStopAlert,
  describeWait,
  describeWaits,
} from './describe-records.ts'
import { alertView, promptView, standbyView } from './encode.ts'
import { alertStatuses, promptStatuses, waitStatuses } from './schema.ts'

export interface RecordRoutesDeps {
  records: Records
  prompts: Pick<Prompts, 'decide' | 'resume'>
  stalls: Pick<Stalls, 'nudge' | 'dismiss' | 'stop'>
  oversight: Pick<Oversight, 'listing' | 'foreignSession'>
}

interface Listed<Kind extends ShownKind> {
  path: string
  /** `waiting` and `all` can be asked for everywhere. */
  statuses: readonly SupervisedRecord['status'][]
  view: (one: RecordOf<Kind>) => unknown
}

const PAGE = { max: 100, fallback: 50 }
const read = { method: 'GET', door: null, role: 'user', body: 'none' } as const
const command = { method: 'POST', door: null, role: 'operator', body: 'control' } as const

export function createRecordRoutes(deps: RecordRoutesDeps): Route[] {
  const { records, prompts, stalls, oversight } = deps

  /** Operators see the records of all owners, and the audit trail says that they looked. */
  function lister<Kind extends ShownKind>(kind: Kind, { path, statuses, view }: Listed<Kind>): Route['handle'] {
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
      reply.json(200, { [path]: shown.map(view) }, nextLink(`/${path}`, request.query, next))
    }
  }

  const shower =
    <Kind extends ShownKind>(kind: Kind, view: (one: RecordOf<Kind>) => unknown): Route['handle'] =>
    async (request, reply) => {
      const viewer = viewerOf(request.principal)
      const record = await records.get(kind, viewer.by, idIn(request))
      reply.note({ session_id: record.sessionId })
      await oversight.foreignSession(viewer, record.sessionId)
      reply.json(200, view(record))
    }

  async function answerPrompt(request: Request, reply: Reply): Promise<void> {
    const { decision, instruction, reason } = await decodeBody(request, PromptAnswerSchema)
    const prompt = await prompts.decide(callerOf(request.principal, request.channel), idIn(request), {
      decision,
      ...(instruction === undefined ? {} : { instruction }),
      ...(reason === undefined ? {} : { reason }),
    })
    reply.note({ session_id: prompt.sessionId })
    reply.json(200, promptView(prompt))
  }

  async function answerWait(request: Request, reply: Reply): Promise<void> {
    const instruction = await decodeWaitAnswer(request)
    const wait = await prompts.resume(callerOf(request.principal, request.channel), idIn(request), { instruction })
    reply.note({ session_id: wait.sessionId })
    reply.json(200, standbyView(wait))
  }

  async function nudge(request: Request, reply: Reply): Promise<void> {
    const { message } = await decodeBody(request, NudgeSchema)
    const alert = await stalls.nudge(callerOf(request.principal, request.channel), idIn(request), message)
    reply.note({ session_id: alert.sessionId })
    reply.json(200, alertView(alert))
  }

  const ending =
    (end: Stalls['dismiss']): Route['handle'] =>
    async (request, reply) => {
      await decodeBody(request, NoBodySchema)
      const alert = await end(callerOf(request.principal, request.channel), idIn(request))
      reply.note({ session_id: alert.sessionId })
      reply.json(200, alertView(alert))
    }

  return [
    {
      ...read,
      path: '/prompts',
      summary: 'List prompts: what agents ask their operators',
      describe: describePrompts,
      handle: lister('prompt', { path: 'prompts', statuses: promptStatuses, view: promptView }),
    },
    {
      ...read,
      path: '/prompts/:id',
      summary: 'Show one prompt',
      describe: describePrompt,
      handle: shower('prompt', promptView),
    },
    {
      ...command,
      path: '/prompts/:id',
      summary: 'Answer a prompt',
      describe: describeAnswerPrompt,
      handle: answerPrompt,
    },
    {
      ...read,
      path: '/waits',
      summary: 'List waits: agents that stand by for an instruction',
      describe: describeWaits,
      handle: lister('standby', { path: 'waits', statuses: waitStatuses, view: standbyView }),
    },
    {
      ...read,
      path: '/waits/:id',
      summary: 'Show one wait',
      describe: describeWait,
      handle: shower('standby', standbyView),
    },
    {
      ...command,
      path: '/waits/:id',
      summary: 'Tell a waiting agent what to do',
      describe: describeAnswerWait,
      handle: answerWait,
    },
    {
      ...read,
      path: '/alerts',
      summary: 'List alerts: agents that have gone silent',
      describe: describeAlerts,
      handle: lister('alert', { path: 'alerts', statuses: alertStatuses, view: alertView }),
    },
    {
      ...read,
      path: '/alerts/:id',
      summary: 'Show one alert',
      describe: describeAlert,
      handle: shower('alert', alertView),
    },
    {
      ...command,
      path: '/alerts/:id/nudge',
      summary: 'Nudge a silent agent',
      describe: describeNudgeAlert,
      handle: nudge,
    },
    {
      ...command,
      path: '/alerts/:id/dismiss',
      summary: 'Say that the silence is fine',
      describe: describeDismiss,
      handle: ending(stalls.dismiss),
    },
    {
      ...command,
      path: '/alerts/:id/stop',
      summary: 'End the session of a silent agent',
      describe: describeStopAlert,
      handle: ending(stalls.stop),
    },
  ]
}
