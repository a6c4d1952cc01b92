// Chat and threads: take a message, answer with a stream of tokens and tool events, and show the history of a thread.

import type { Clock } from '../../domain/clock.ts'
import { ServerError, sessionNotFound } from '../../domain/errors.ts'
import type { Ids } from '../../domain/ids.ts'
import type { StoredMessage } from '../../domain/message.ts'
import type { SessionRecord } from '../../domain/session.ts'
import type { Engine } from '../../engine/engine.ts'
import type { AcceptedRun } from '../../engine/ports/runs.ts'
import type { Reply, Request, Route } from '../../http/route.ts'
import { failureOf } from '../shared/answer/answer-failure.ts'
import { resumedRun } from '../shared/answer/resumed-run.ts'
import { entriesUpTo, streamAnswer } from '../shared/answer/stream-answer.ts'
import { listMessages } from '../shared/request/list-messages.ts'
import { listSessions } from '../shared/request/list-sessions.ts'
import { decodePage, nextLink } from '../shared/request/page.ts'
import { askedBy } from '../shared/request/start-headers.ts'
import { collectChain, createChainEncoder } from './chain-encoder.ts'
import { answerMessage, historyMessages, isoTime, requestMetadata } from './chat-message.ts'
import { decodeThreadChat, decodeToolResult, type ThreadChat } from './decode.ts'
import { describeList, describePost, describeRemove, describeThread, describeToolResult } from './describe.ts'
import { threadIdOf, toolExecution } from './encode.ts'
import { threadErrorShape } from './error-shape.ts'
import { type ChainPlace, firstRun, followChain, placeInChain, startOfChain } from './follow-chain.ts'
import { MAX_THREAD_METADATA_BYTES, type Waiting } from './schema.ts'

export interface ThreadRoutesDeps {
  engine: Engine
  clock: Clock
  ids: Ids
}

const THREADS = { max: 1_000, fallback: 100 }
const MESSAGES = { max: 1_000, fallback: 1_000 }

export function createThreadRoutes(deps: ThreadRoutesDeps): Route[] {
  const shared = { door: 'threads', role: 'user' } as const
  return [
    {
      ...shared,
      method: 'POST',
      path: '/chat',
      body: 'message',
      summary: 'Send a message, read the answer as it is written',
      describe: describePost,
      handle: inOwnShape(deps, post),
    },
    {
      ...shared,
      method: 'GET',
      path: '/threads',
      body: 'none',
      summary: 'The threads of the caller',
      describe: describeList,
      handle: inOwnShape(deps, list),
    },
    {
      ...shared,
      method: 'GET',
      path: '/threads/:id',
      body: 'none',
      summary: 'A thread and its messages',
      describe: describeThread,
      handle: inOwnShape(deps, show),
    },
    {
      ...shared,
      method: 'DELETE',
      path: '/threads/:id',
      body: 'none',
      summary: 'Delete a thread and everything in it',
      describe: describeRemove,
      handle: inOwnShape(deps, remove),
    },
    {
      ...shared,
      method: 'POST',
      path: '/tool_result',
      body: 'message',
      summary: 'Send the result of a client tool',
      describe: describeToolResult,
      handle: inOwnShape(deps, toolResult),
    },
  ]
}

type Handler = (deps: ThreadRoutesDeps, request: Request, reply: Reply) => Promise<void>

function inOwnShape(deps: ThreadRoutesDeps, handle: Handler): Route['handle'] {
  return async (request, reply) => {
    try {
      await handle(deps, request, reply)
    } catch (error) {
      reply.fail(error, threadErrorShape)
    }
  }
}

async function post(deps: ThreadRoutesDeps, request: Request, reply: Reply): Promise<void> {
  const { engine } = deps
  const { owner } = request.principal
  const body = await request.json()
  const chat = decodeThreadChat(body)
  if (chat.stream) reply.claimStream()
  const known = chat.threadId === null ? null : await engine.sessions.getOpen(owner, chat.threadId)
  if (known !== null) reply.note({ session_id: known.id })
  const lastEventId = request.header('last-event-id')
  if (lastEventId === undefined) {
    const { run, session } = await start(deps, request, body, chat, known)
    return answer(deps, { request, reply, session, place: startOfChain(run) }, chat.stream)
  }
  const { run, session, seen, after } = await resumedRun(engine, owner, lastEventId, known)
  if (known !== null && known.id !== session.id) throw sessionNotFound(session.id)
  const place = await placeInChain(deps, run, seen, after)
  if (place !== null) return answer(deps, { request, reply, session, place }, chat.stream)
  // An empty 200 would look like a stream that broke off.
  if (chat.stream) return reply.empty(204)
  return answer(deps, { request, reply, session, place: startOfChain(await firstRun(engine, run)) }, false)
}

async function start(
  { engine, ids }: ThreadRoutesDeps,
  request: Request,
  body: unknown,
  { message, metadata }: ThreadChat,
  known: SessionRecord | null,
): Promise<AcceptedRun> {
  const asked = askedBy(request, body)
  if (metadata !== null && known !== null) checkMerged(known, metadata)
  return engine.runs.start({
    ...asked,
    agent: null,
    session: known === null ? { create: {} } : { existing: known },
    input: {
      messages: [{ id: ids.uuid(), role: 'user', content: message, ...(metadata === null ? {} : { metadata }) }],
      instructions: [],
      context: [],
      clientTools: [],
      clientAnswers: 'in_stream',
    },
    ...(metadata === null ? {} : { metadata }),
    origin: 'reader',
  })
}

function checkMerged({ metadata }: SessionRecord, added: Record<string, unknown>): void {
  if (Buffer.byteLength(JSON.stringify({ ...metadata, ...added })) <= MAX_THREAD_METADATA_BYTES) return
  const detail = `The thread's metadata would grow beyond ${MAX_THREAD_METADATA_BYTES} bytes. Use fewer keys, or a new thread.`
  throw new ServerError('invalid_request', detail, { problems: [{ pointer: '/metadata', detail }] })
}

interface Call {
  request: Request
  reply: Reply
  session: SessionRecord
  place: ChainPlace
}

async function answer(deps: ThreadRoutesDeps, call: Call, stream: boolean): Promise<void> {
  const { engine } = deps
  const { request, reply, session, place } = call
  const { chain, after } = place
  const run = chain[chain.length - 1] ?? chain[0]
  reply.note({ session_id: run.sessionId, run_id: run.id })
  if (!stream) return answerWhole(deps, call)
  const { signal, log } = request
  const reader = { stream: reply.sse(), signal, log }
  const holder = { owner: run.owner, onOverdue: () => reader.stream.drop() }
  const follow: Engine['runs']['follow'] = (target, until) => engine.runs.follow({ ...target, holder }, until)
  await streamAnswer(deps, run, after, reader, createChainEncoder(engine, session, chain[0]), {
    seen: () => entriesUpTo(engine, chain, after),
    follow: () => followChain({ ...deps, engine: { ...engine, runs: { ...engine.runs, follow } } }, place, signal, log),
  })
  reader.stream.end()
}

async function answerWhole(deps: ThreadRoutesDeps, { request, reply, session, place }: Call): Promise<void> {
  const [first] = place.chain
  const { answer: result, runId, endedAt, open } = await collectChain(deps, session, first, request)
  const thread_id = threadIdOf(session)
  const failure = failureOf(result, { thread_id, run_id: runId })
  if (failure !== null) throw failure
  if (result.outcome === 'waiting') {
    const waiting: Waiting = { status: 'waiting', run_id: runId, approval_ids: result.approvalIds }
    const calls = open.length === 0 ? {} : { thread_id, tool_executions: open.map(toolExecution) }
    return reply.json(202, { ...waiting, ...calls })
  }
  const message = answerMessage(result, endedAt, requestMetadata(first))
  reply.json(200, { thread_id, message })
}

async function list({ engine }: ThreadRoutesDeps, request: Request, reply: Reply): Promise<void> {
  const page = decodePage(request, THREADS)
  const { sessions, next } = await listSessions(engine, { owner: request.principal.owner }, page)
  const threads = sessions.map((session) => ({
    thread_id: threadIdOf(session),
    message_count: session.messageCount,
    created_at: isoTime(session.createdAt),
    updated_at: isoTime(session.lastActivity),
  }))
  reply.json(200, { threads }, nextLink('/threads', request.query, next))
}

async function show({ engine }: ThreadRoutesDeps, request: Request, reply: Reply): Promise<void> {
  const page = decodePage(request, MESSAGES)
  const session = await engine.sessions.getOpen(request.principal.owner, request.params.id ?? '')
  reply.note({ session_id: session.id })
  const { messages, next } = await listMessages(engine.messages, session.id, page, reply)
  const body = {
    thread_id: threadIdOf(session),
    created_at: isoTime(session.createdAt),
    updated_at: isoTime(session.lastActivity),
    message_history: historyMessages(messages, await metadataByRun(engine, session.owner, messages)),
    metadata: session.metadata,
  }
  const path = `/threads/${encodeURIComponent(threadIdOf(session))}`
  await reply.jsonPieces(200, body, nextLink(path, request.query, next))
}

/** The request metadata of each run. If a page begins inside a chain, its user message is on another page. */
async function metadataByRun(engine: Engine, owner: string, messages: readonly StoredMessage[]) {
  const found = new Map<string, Record<string, unknown>>()
  let asked: Record<string, unknown> | null = null
  for (const { role, runId, metadata = {} } of messages) {
    if (role === 'user') asked = metadata
    // A run that continues after a client tool has no user message.
    else asked ??= requestMetadata(await firstRun(engine, await engine.runs.get(owner, runId)))
    found.set(runId, asked)
  }
  return found
}

async function remove({ engine }: ThreadRoutesDeps, request: Request, reply: Reply): Promise<void> {
  // A thread that has expired can still be deleted.
  const session = await engine.sessions.get(request.principal.owner, request.params.id ?? '')
  reply.note({ session_id: session.id })
  await engine.sessions.remove(session)
  reply.empty(204)
}

async function toolResult({ engine }: ThreadRoutesDeps, request: Request, reply: Reply): Promise<void> {
  const { executionId, content, isError, durationMs } = decodeToolResult(await request.json())
  const run = await engine.waits.answerClientCall(
    request.principal.owner,
    executionId,
    { content, isError, durationMs },
    request.correlationId,
  )
  reply.note({ session_id: run.sessionId, run_id: run.id })
  reply.json(200, { status: 'received' })
}
