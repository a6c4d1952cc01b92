// `POST /chat`: starts a run or goes on with one, and answers as a stream or as a whole.

import type { Clock } from '../../domain/clock.ts'
import { ServerError, sessionNotFound } from '../../domain/errors.ts'
import type { Ids } from '../../domain/ids.ts'
import type { SessionRecord } from '../../domain/session/session.ts'
import type { Engine } from '../../engine/engine.ts'
import type { AcceptedRun } from '../../engine/ports/runs.ts'
import type { Reply, Request } from '../../http/route.ts'
import { failureOf } from '../shared/answer/answer-failure.ts'
import { resumedRun } from '../shared/answer/resumed-run.ts'
import { entriesUpTo, streamAnswer } from '../shared/answer/stream-answer.ts'
import { askedBy } from '../shared/request/start-headers.ts'
import { collectChain, createChainEncoder } from './chain-encoder.ts'
import { answerMessage, requestMetadata } from './chat-message.ts'
import { decodeThreadChat, type ThreadChat } from './decode.ts'
import { threadIdOf, toolExecution } from './encode.ts'
import { type ChainPlace, firstRun, followChain, placeInChain, startOfChain } from './follow-chain.ts'
import { MAX_THREAD_METADATA_BYTES, type Waiting } from './schema.ts'

export interface ThreadRoutesDeps {
  engine: Engine
  clock: Clock
  ids: Ids
}

export async function answerChat(deps: ThreadRoutesDeps, request: Request, reply: Reply): Promise<void> {
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
