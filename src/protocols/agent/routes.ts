// The agent routes: take a message to a named agent, and answer with the whole answer or a stream of named events.

import { z } from 'zod'
import type { Clock } from '../../domain/clock.ts'
import { type Ids, parseUuid, ulidOf } from '../../domain/ids.ts'
import { contentWith } from '../../domain/session/message.ts'
import type { RunRecord } from '../../domain/session/run.ts'
import { refuseSupervised, type SessionRecord } from '../../domain/session/session.ts'
import type { Engine } from '../../engine/engine.ts'
import { isMultipart } from '../../http/body/multipart.ts'
import { answer } from '../../http/describe-answer.ts'
import type { Reply, Request, Route } from '../../http/route.ts'
import { failureOf, streamProblem } from '../shared/answer/answer-failure.ts'
import { collectAnswer } from '../shared/answer/collect-answer.ts'
import { fileErrors, runErrors, startErrors } from '../shared/answer/error-lists.ts'
import { streamAnswer } from '../shared/answer/stream-answer.ts'
import { waitingView } from '../shared/answer/waiting.ts'
import { resumedRun } from '../shared/events/event-id.ts'
import { beforeFirst, isOver } from '../shared/events/stream-events.ts'
import { type Attachments, startFiles } from '../shared/request/attachments.ts'
import { jsonWithFiles, releaseBody } from '../shared/request/body-with-files.ts'
import { nullIf } from '../shared/request/null-if.ts'
import { askedBy, messageInput, startHeaderSchemas } from '../shared/request/start-headers.ts'
import { ChatFormSchema, ChatRequestSchema, decodeChatRequest, readChatForm } from './decode.ts'
import { chatResponse, createStreamEncoder } from './encode.ts'
import { agentErrorShape, statuses } from './error-shape.ts'
import { ChatResponseSchema, streamEventSchemas, WaitingSchema } from './schema.ts'

export interface AgentRoutesDeps {
  engine: Engine
  clock: Pick<Clock, 'now'>
  ids: Ids
  attachments: Attachments
}

const body = {
  schema: ChatRequestSchema,
  examples: {
    'a new session': { message: 'What is the weather in Berlin?' },
    'the next message': { message: 'And tomorrow?', session_id: '01J9ZQ3V6K8R2T4Y7B5N0M1C3D' },
    'with a file': {
      message: 'What does it say?',
      files: [{ content: 'SGVsbG8=', mime_type: 'text/plain', filename: 'note.txt' }],
    },
  },
}

const described = {
  tag: 'Agent',
  params: { name: z.string().meta({ description: 'Name of the agent.' }) },
  headers: startHeaderSchemas,
  body,
  form: { schema: ChatFormSchema },
}

export function createAgentRoutes(deps: AgentRoutesDeps): Route[] {
  const { engine } = deps

  async function chat(request: Request, reply: Reply): Promise<void> {
    const { run, messageId, sessionId } = await startChat(deps, request, reply)
    reply.note({ session_id: run.sessionId, run_id: run.id })
    const answer = await collectAnswer(engine, { run }, request.signal)
    const failure = failureOf(answer, { session_id: sessionId, message_id: messageId })
    if (failure !== null) return reply.fail(failure, agentErrorShape)
    if (answer.outcome === 'waiting') return reply.json(202, waitingView(run, answer.approvalIds))
    reply.json(200, chatResponse(answer, messageId, sessionId))
  }

  async function stream(request: Request, reply: Reply): Promise<void> {
    reply.claimStream()
    const { run, after, messageId, sessionId } = await startChat(deps, request, reply)
    reply.note({ session_id: run.sessionId, run_id: run.id })
    // The reader has seen everything. An empty 200 would look like a stream that broke off.
    if (isOver(run, after)) return reply.empty(204)
    const { path, correlationId, signal, log } = request
    const encoder = createStreamEncoder({
      run,
      messageId,
      sessionId,
      problem: (error) => streamProblem(error, { path, correlationId }, statuses),
    })
    const opened = reply.sse()
    await streamAnswer(deps, run, after, { stream: opened, signal, log }, encoder)
    opened.end()
  }

  const shared = { method: 'POST', door: 'rest', role: 'user', body: 'files' } as const
  return [
    {
      ...shared,
      path: '/agent/:name/chat',
      summary: 'Send a message to an agent and wait for its answer',
      describe: () => ({
        ...described,
        description:
          'Answers when the run has ended. If the client disconnects, the run is stopped after `limits.disconnect_grace`. A well-formed but unknown session id begins a new session with a new id.',
        responses: {
          200: answer('The answer.', ChatResponseSchema),
          202: answer('The run waits for a person.', WaitingSchema),
        },
        errors: [...startErrors, ...fileErrors, ...runErrors],
      }),
      handle: chat,
    },
    {
      ...shared,
      path: '/agent/:name/chat/stream',
      summary: 'Send a message to an agent and read its answer as it is written',
      describe: () => ({
        ...described,
        description:
          'Server-sent events with `event:` lines. The first is `stream_start`, the last is always `stream_end` or `error`. After a lost connection, send the request again with the header `Last-Event-ID`.',
        responses: {
          200: {
            description: 'The answer as it is written.',
            content: {
              'text/event-stream': {
                schema: z.union(Object.values(streamEventSchemas)),
                example: { delta: 'It is sunny', message_id: '01J9ZQ4A7M2N8P5R1T6V3W9X0Y' },
                events: streamEventSchemas,
              },
            },
          },
          204: { description: 'With `Last-Event-ID`: the run has no further events.' },
        },
        errors: [...startErrors, ...fileErrors],
      }),
      handle: stream,
    },
  ]
}

// Starts or finds the run of a chat request, and says which ids the client sees.

/** With `Last-Event-ID` it starts no run, and finds the run of that event. The reader starts after the entry `after`. */
async function startChat({ engine, ids, attachments }: AgentRoutesDeps, request: Request, reply: Pick<Reply, 'note'>) {
  const { owner } = request.principal
  const agent = engine.agents.get(request.params.name ?? '')
  const lastEventId = request.header('last-event-id')
  const {
    sent: body,
    content,
    uploaded,
  } = isMultipart(request.header('content-type'))
    ? await readForm(attachments, request, lastEventId === undefined)
    : await readBody(request)
  const asked = askedBy(request, content)
  const { message, sessionId: reference, files: sent } = decodeChatRequest(body)
  const found = reference === null ? null : await sessionOf(engine, owner, reference)
  if (found !== null) reply.note({ session_id: found.id })

  if (lastEventId !== undefined) {
    const { run, session, after } = await resumedRun(engine, owner, lastEventId, found)
    return { run, after, ...shownIds(run, session, found, reference) }
  }

  refuseSupervised(found)
  const files = [...uploaded, ...(await attachments.take(owner, sent))]
  releaseBody(request, [body])
  await attachments.check(files, agent.model?.input, request.signal)
  const { run, session } = await engine.runs.start({
    ...asked,
    agent: agent.name,
    session: found === null ? { create: {} } : { existing: found },
    input: messageInput({ id: ids.uuid(), content: contentWith(message, files) }),
    origin: 'reader',
    ...startFiles(files),
  })
  return { run, after: beforeFirst(run), ...shownIds(run, session, found, reference) }
}

/** `sent` is not checked yet. `content` is what `Idempotency-Key` is bound to. */
async function readBody(request: Request) {
  const body = await jsonWithFiles(request)
  return { sent: body, content: body, uploaded: [] }
}

/** A client that resumes a stream sends the whole request again. Its files are already stored, so `keeps` is false. */
async function readForm(attachments: Attachments, request: Request, keeps: boolean) {
  const { owner } = request.principal
  const { fields, files } = await readChatForm(request.multipart(), async (part) =>
    keeps ? [await attachments.upload(owner, part)] : [],
  )
  const uploaded = files.flat()
  const contents = uploaded.map(({ name, mimeType, sha256 }) => [name, mimeType, sha256])
  return { sent: fields, content: { ...fields, files: contents }, uploaded }
}

/** Null for a session that is unknown, somebody else's or closed: these routes then begin a new session. */
const sessionOf = (engine: Engine, owner: string, reference: string): Promise<SessionRecord | null> =>
  engine.sessions.getOpen(owner, reference).catch(nullIf('session_not_found', 'session_expired'))

/** The answer has the id of its run, because that exists before the first word and even if nothing is said. */
function shownIds(run: RunRecord, session: SessionRecord, found: SessionRecord | null, reference: string | null) {
  const isNamed = reference !== null && found?.id === session.id && parseUuid(reference) !== session.id
  return { messageId: ulidOf(run.id), sessionId: isNamed ? reference : ulidOf(session.id) }
}
