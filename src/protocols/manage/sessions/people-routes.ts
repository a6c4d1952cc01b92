// What people add to a session: its name, and what they think of an answer.

import { z } from 'zod'
import { messageNotFound } from '../../../domain/errors.ts'
import type { SessionRecord } from '../../../domain/session/session.ts'
import { titleOf } from '../../../domain/session/session-overview.ts'
import { answer, page } from '../../../http/describe-answer.ts'
import type { Reply, Request, Route } from '../../../http/route.ts'
import { callerOf, viewerOf } from '../../shared/request/caller.ts'
import { feedbackView } from '../../shared/request/feedback.ts'
import { isLonger, writtenText } from '../../shared/request/message-limits.ts'
import { nullIf } from '../../shared/request/null-if.ts'
import { shownIdOf } from '../../shared/request/session-row.ts'
import { validBody } from '../../shared/request/validate.ts'
import { routeHeads } from '../../shared/route-heads.ts'
import { idOf, sessionParams, sessionTag } from './decode.ts'
import type { LogRoutesDeps } from './log-routes.ts'
import { GivenFeedbackSchema, MessageFeedbackSchema, SessionTitleSchema } from './schema.ts'

const MOST_TITLE = 200
const MOST_NOTE = 2_000
const { get, post, patch } = routeHeads(null, 'user')

const NewTitleSchema = z.strictObject({
  title: z
    .string()
    .refine((title) => !isLonger(title, MOST_TITLE), `A title has at most ${MOST_TITLE} characters.`)
    .nullable()
    .meta({ maxLength: MOST_TITLE })
    .describe('Blank or null: the session has its automatic title again.'),
})

const NewFeedbackSchema = z.strictObject({
  value: MessageFeedbackSchema.shape.value.nullable().describe('null takes it back.'),
  note: writtenText('note', MOST_NOTE).nullish(),
})

export function createPeopleRoutes({ engine, oversight }: Pick<LogRoutesDeps, 'engine' | 'oversight'>): Route[] {
  const { sessions, messages } = engine

  async function rename(request: Request, reply: Reply): Promise<void> {
    const { title } = validBody(NewTitleSchema, await request.json(), 'The title cannot be used.')
    const viewer = viewerOf(request)
    const session = await oversight.session(viewer, idOf(request))
    reply.note({ session_id: session.id })
    await sessions.rename(session, titleOf(title ?? '', MOST_TITLE) || null, viewer.by.user)
    const [overview] = await sessions.overview([session.id])
    reply.json(200, { session_id: shownIdOf(session, viewer.owner), title: overview?.title ?? '' })
  }

  async function rate(request: Request, reply: Reply): Promise<void> {
    const { value, note } = validBody(NewFeedbackSchema, await request.json(), 'The feedback cannot be used.')
    const messageId = idOf(request)
    const session = await sessionWith(request, messageId)
    reply.note({ session_id: session.id })
    await sessions.rate(session, { messageId, by: callerOf(request).user, value, note: note ?? null })
    reply.json(200, {
      message_id: messageId,
      session_id: shownIdOf(session, request.principal.owner),
      feedback: (await messages.feedback(session.id)).filter((one) => one.messageId === messageId).map(feedbackView),
    })
  }

  async function sessionWith(request: Request, messageId: string): Promise<SessionRecord> {
    const id = await messages.sessionWithAnswer(messageId)
    const session =
      id === null ? null : await oversight.session(viewerOf(request), id).catch(nullIf('session_not_found'))
    if (session === null) throw messageNotFound(messageId)
    return session
  }

  async function list(request: Request, reply: Reply): Promise<void> {
    const session = await oversight.session(viewerOf(request), idOf(request))
    reply.note({ session_id: session.id })
    const { user } = callerOf(request)
    const all = await messages.feedback(session.id)
    reply.json(200, {
      feedback: all.map((one) => ({ message_id: one.messageId, ...feedbackView(one), own: one.by === user })),
    })
  }

  return [
    {
      ...patch,
      path: '/sessions/:id',
      summary: 'Name a session',
      describe: () => ({
        tag: sessionTag,
        description: 'For its owner and for operators. The log says who. Hidden characters in it are marked.',
        params: sessionParams,
        body: { schema: NewTitleSchema, examples: { named: { title: 'Holidays in May' }, automatic: { title: null } } },
        responses: { 200: answer('The title that the session has now.', SessionTitleSchema) },
        errors: ['invalid_request', 'malformed_id', 'session_not_found', 'storage_full', 'storage_failed'],
      }),
      handle: rename,
    },
    {
      ...get,
      path: '/sessions/:id/feedback',
      summary: 'Feedback on its answers',
      describe: () => ({
        tag: sessionTag,
        params: sessionParams,
        responses: { 200: page('feedback', MessageFeedbackSchema, 'All of it, oldest first.') },
        errors: ['malformed_id', 'session_not_found', 'storage_failed'],
      }),
      handle: list,
    },
    {
      ...post,
      path: '/messages/:id/feedback',
      summary: 'Rate an answer',
      describe: () => ({
        tag: sessionTag,
        description: 'For the owner of the session and for operators. What you said before stays in the log only.',
        params: { id: z.string().describe('The `message_id` of an answer.') },
        body: {
          schema: NewFeedbackSchema,
          examples: {
            good: { value: 'up' },
            bad: { value: 'down', note: 'The date is wrong.' },
            'taken back': { value: null },
          },
        },
        responses: { 200: answer('What people think of this answer now.', GivenFeedbackSchema) },
        errors: ['invalid_request', 'malformed_id', 'message_not_found', 'storage_full', 'storage_failed'],
      }),
      handle: rate,
    },
  ]
}
