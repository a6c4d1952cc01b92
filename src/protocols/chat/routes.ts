// Chat and sessions: one answer per request, and lists of sessions and messages.

import { z } from 'zod'
import { answersWith } from '../../domain/agent/agent.ts'
import type { Clock } from '../../domain/clock.ts'
import type { Ids } from '../../domain/ids.ts'
import { present } from '../../domain/present.ts'
import { feedbackValues } from '../../domain/session/message.ts'
import type { RunRecord } from '../../domain/session/run.ts'
import type { SessionRecord } from '../../domain/session/session.ts'
import { MOST_COUNTED, sessionActivities, sessionKinds, sessionOrders } from '../../domain/session/session-overview.ts'
import type { Engine } from '../../engine/engine.ts'
import type { AcceptedRun } from '../../engine/ports/runs.ts'
import type { SessionFilters, SessionPage } from '../../engine/ports/sessions.ts'
import { answer } from '../../http/describe-answer.ts'
import type { Reply, Request, Route } from '../../http/route.ts'
import type { Oversight } from '../../supervision/oversight/oversight.ts'
import type { ReadCosts } from '../../supervision/oversight/usage-report.ts'
import { failingAs, failureOf } from '../shared/answer/answer-failure.ts'
import { collectAnswer } from '../shared/answer/collect-answer.ts'
import { runErrors, startErrors } from '../shared/answer/error-lists.ts'
import { waitingView } from '../shared/answer/waiting.ts'
import { resumedRun } from '../shared/events/event-id.ts'
import { viewerOf } from '../shared/request/caller.ts'
import { FeedbackValueSchema, feedbackOf } from '../shared/request/feedback.ts'
import { listMessages } from '../shared/request/list-messages.ts'
import { listSessions } from '../shared/request/list-sessions.ts'
import {
  agentIn,
  decodePage,
  linked,
  nextLink,
  older,
  ownerIn,
  type Page,
  queryProblem,
  timeIn,
  wordIn,
} from '../shared/request/page.ts'
import { clientIdOf, TimeSchema } from '../shared/request/session-row.ts'
import { askedBy, messageInput, startHeaderSchemas } from '../shared/request/start-headers.ts'
import { hostState } from '../shared/supervised/host-choices.ts'
import { decodeChat, userLabel } from './decode.ts'
import { chatResponse, foreignInfo, isSpoken, sessionInfo, sessionMessage } from './encode.ts'
import { chatErrorShape } from './error-shape.ts'
import {
  ChatRequestSchema,
  ChatResponseSchema,
  type Session,
  SessionInfoSchema,
  SessionSchema,
  UserIdSchema,
  WaitingSchema,
} from './schema.ts'

export interface ChatRoutesDeps {
  engine: Engine
  oversight: Oversight
  readCosts: ReadCosts
  clock: Pick<Clock, 'mono'>
  ids: Ids
}

const SESSIONS = { max: 100, fallback: 10 }
const MESSAGES = { max: 1_000, fallback: 1_000 }
const tag = 'Chat and sessions'
const id = '0192f3a1-7b2c-7def-8abc-0123456789ab'
const before = z.string().optional()

export function createChatRoutes({ engine, oversight, readCosts, clock, ids }: ChatRoutesDeps): Route[] {
  async function post(request: Request, reply: Reply): Promise<void> {
    const startedAt = clock.mono()
    const { owner } = request.principal
    const body = await request.json()
    const chat = decodeChat(body)
    const label = userLabel(owner, chat.userId)
    const known = chat.sessionId === null ? null : await engine.sessions.getOpen(owner, chat.sessionId)
    if (known !== null) reply.note({ session_id: known.id })
    const lastEventId = request.header('last-event-id')
    if (lastEventId === undefined) {
      const { run, session } = await start(request, body, chat.message, known, label)
      return respond(request, reply, run, session, startedAt)
    }
    const resumed = await resumedRun(engine, owner, lastEventId, known).catch((error: unknown) => {
      // A malformed event id is 400 in every protocol.
      reply.fail(error)
      return null
    })
    if (resumed !== null) await respond(request, reply, resumed.run, resumed.session, startedAt)
  }

  async function start(
    request: Request,
    body: unknown,
    message: string,
    known: SessionRecord | null,
    label: string | null,
  ): Promise<AcceptedRun> {
    return engine.runs.start({
      ...askedBy(request, body),
      agent: null,
      session: known === null ? { create: label === null ? {} : { label } } : { existing: known },
      input: messageInput({ id: ids.uuid(), content: message }),
      origin: 'reader',
    })
  }

  async function respond(
    request: Request,
    reply: Reply,
    run: RunRecord,
    session: SessionRecord,
    startedAt: number,
  ): Promise<void> {
    reply.note({ session_id: run.sessionId, run_id: run.id })
    const result = await collectAnswer(engine, { run }, request.signal)
    const failure = failureOf(result, { session_id: clientIdOf(session), run_id: run.wireId })
    if (failure !== null) throw failure
    if (result.outcome === 'waiting') return reply.json(202, waitingView(run, result.approvalIds))
    const responseTimeMs = Math.round(clock.mono() - startedAt)
    // The agent that took the conversation over, if there was a handoff.
    const agent = result.agentName ?? run.agent
    const served = engine.agents.list.find(({ name }) => name === agent)
    const model = served === undefined ? (result.usage.at(-1)?.model ?? '') : answersWith(served).name
    reply.json(200, chatResponse(session, result, { agent, model, responseTimeMs }))
  }

  async function list(request: Request, reply: Reply): Promise<void> {
    const { owner } = request.principal
    const page = decodePage(request, SESSIONS)
    const asked = ownerIn(request.query)
    if (asked !== null && asked !== owner) return listForeign(request, reply, asked, page)
    const label = userLabel(owner, userIdIn(request.query))
    await answerList(request, reply, { owner, label, ...filtersIn(request.query) }, page, sessionInfo)
  }

  async function listForeign(request: Request, reply: Reply, owner: string, page: Page): Promise<void> {
    const query = { owner: owner === '*' ? null : owner, ...filtersIn(request.query) }
    await oversight.listing(viewerOf(request), owner)
    await answerList(request, reply, query, page, foreignInfo)
  }

  async function answerList(
    { query: asked }: Request,
    reply: Reply,
    query: Pick<SessionPage, 'owner' | 'label'> & SessionFilters,
    page: Page,
    info: typeof sessionInfo,
  ): Promise<void> {
    const order = wordIn(asked, 'sort', sessionOrders)
    const isCounted = wordIn(asked, 'count', ['true', 'false']) === 'true'
    const { sessions, next } = await listSessions(engine, present({ ...query, order }), page)
    const total = isCounted ? { 'X-Total-Count': String(await engine.sessions.countFound(query)) } : {}
    reply.json(200, await rowsOf(sessions, info), { ...nextLink('/sessions', asked, next), ...total })
  }

  async function rowsOf(sessions: readonly SessionRecord[], info: typeof sessionInfo): Promise<Session[]> {
    const ids = sessions.map(({ id }) => id)
    const overviews = new Map((await engine.sessions.overview(ids)).map((one) => [one.id, one]))
    const costs = await readCosts(ids)
    return sessions.map((session) => {
      const cost = costs.get(session.id)
      return { ...info(session, overviews.get(session.id)), ...(cost === undefined ? {} : { cost }) }
    })
  }

  async function show(request: Request, reply: Reply): Promise<void> {
    const page = decodePage(request, MESSAGES)
    const viewer = viewerOf(request)
    const reference = request.params.id ?? ''
    const foreign = await oversight.foreignSession(viewer, reference)
    const session = foreign ?? (await engine.sessions.getOpen(viewer.owner, reference))
    reply.note({ session_id: session.id })
    const include = wordIn(request.query, 'include', ['tools'], 'Send tools, or leave it out.')
    const listed = include === 'tools' ? undefined : isSpoken
    const { messages, next } = await listMessages(engine.messages, session.id, page, reply, listed)
    const [row] = await rowsOf([session], foreign === null ? sessionInfo : foreignInfo)
    const info = row ?? sessionInfo(session)
    const path = `/sessions/${encodeURIComponent(info.session_id)}`
    const feedback = feedbackOf(await engine.messages.feedback(session.id))
    const said = messages.map((one) => ({ ...sessionMessage(one), ...feedback(one.id) }))
    const body = { ...info, ...present({ host: hostState(session) }), messages: said }
    await reply.jsonPieces(200, body, nextLink(path, request.query, next))
  }

  const shared = { door: 'rest', role: 'user' } as const
  // The console shows sessions whichever doors are open.
  const read = { ...shared, door: null, method: 'GET', body: 'none' } as const
  return [
    {
      ...shared,
      method: 'POST',
      path: '/chat',
      body: 'message',
      summary: 'Send a message, get the answer',
      describe: () => ({
        tag,
        description:
          'Sends a message and waits for the answer. Without `session_id` a new session begins. `user_id` labels it; with the token of a user other than `local_user` it must be the name of that user.',
        headers: startHeaderSchemas,
        body: {
          schema: ChatRequestSchema,
          examples: {
            first: { message: 'Hello!' },
            next: { message: 'And tomorrow?', session_id: id, user_id: 'kim' },
          },
        },
        responses: {
          200: answer('The answer.', ChatResponseSchema),
          202: answer('The run waits for a person.', WaitingSchema),
        },
        errors: [...startErrors, 'session_expired', ...runErrors],
      }),
      handle: failingAs(chatErrorShape, post),
    },
    {
      ...read,
      path: '/sessions',
      summary: 'The sessions of a user',
      describe: () => ({
        tag,
        description: `The sessions of a user. Sorting by tokens and counting look at the ${MOST_COUNTED.toLocaleString('en')} sessions with the newest activity.`,
        query: {
          user_id: UserIdSchema.optional(),
          owner: z
            .string()
            .optional()
            .describe(
              'For operators: the sessions of this owner, or of all owners (`*`). The audit trail says who asked.',
            ),
          agent: z.string().min(1).max(128).optional().describe('Only sessions of this agent.'),
          status: z.enum(sessionActivities).optional().describe('Only sessions that do this. `state` means the same.'),
          kind: z.enum(sessionKinds).optional(),
          feedback: FeedbackValueSchema.optional().describe(
            'Only sessions with an answer of which somebody thinks so.',
          ),
          since: TimeSchema.optional().describe('Only sessions that were last active at or after this time.'),
          until: TimeSchema.optional().describe('Only sessions that were last active at or before this time.'),
          sort: z
            .enum(sessionOrders)
            .optional()
            .describe('By the last activity, or most tokens first. Default: newest.'),
          count: z.enum(['true', 'false']).optional().describe('`true`: the answer says how many there are in all.'),
          limit: z.int().min(1).max(100).default(10),
          before: before.describe(
            'The `session_id` of the last session of the page before, or the `before` of its Link header.',
          ),
        },
        responses: {
          200: {
            ...answer('A page of sessions.', z.array(SessionInfoSchema)),
            headers: {
              Link: 'The next page, as `rel="next"`; absent on the last one.',
              'X-Total-Count': 'With `count=true`: how many sessions there are, up to 10,000.',
            },
          },
        },
        errors: ['invalid_request', 'forbidden'],
      }),
      handle: failingAs(chatErrorShape, list),
    },
    {
      ...read,
      path: '/sessions/:id',
      summary: 'A session and its messages',
      describe: () => ({
        tag,
        description:
          'A session and its newest messages, oldest first: what the user and the agent said. With `include=tools` also the results of tools and the answers without a word that called them.',
        params: { id: z.string().describe('UUID, ULID, or the name its client gave it.') },
        query: {
          limit: z.int().min(1).max(1_000).default(1_000),
          include: z.enum(['tools']).optional().describe('Shows the work of tools, too.'),
          before: before.describe('Only messages before this one; comes in the Link header.'),
        },
        responses: { 200: linked(answer('The session.', SessionSchema), older('messages')) },
        errors: ['invalid_request', 'malformed_id', 'session_not_found', 'session_expired'],
      }),
      handle: failingAs(chatErrorShape, show),
    },
  ]
}

function filtersIn(query: URLSearchParams): SessionFilters {
  return present({
    agent: agentIn(query),
    kind: wordIn(query, 'kind', sessionKinds),
    activity: wordIn(query, 'status', sessionActivities) ?? wordIn(query, 'state', sessionActivities),
    feedback: wordIn(query, 'feedback', feedbackValues),
    since: timeIn(query, 'since'),
    until: timeIn(query, 'until'),
  })
}

function userIdIn(query: URLSearchParams): string | null {
  const text = query.get('user_id')
  const parsed = UserIdSchema.nullable().safeParse(text)
  if (parsed.success) return parsed.data
  throw queryProblem({ pointer: 'user_id', detail: parsed.error.issues[0]?.message ?? 'Send a valid user_id.' })
}
