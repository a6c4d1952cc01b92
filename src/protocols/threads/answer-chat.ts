// `POST /chat`: starts a run or goes on with one, and answers as a stream or as a whole.

import type { Clock } from '../../domain/clock.ts'
import { ServerError, sessionNotFound } from '../../domain/errors.ts'
import type { Ids } from '../../domain/ids.ts'
import type { RunRecord } from '../../domain/session/run.ts'
import { waitsFor } from '../../domain/session/run-answer.ts'
import type { SessionRecord } from '../../domain/session/session.ts'
import type { Engine } from '../../engine/engine.ts'
import type { AcceptedRun } from '../../engine/ports/runs.ts'
import { ClientGone } from '../../http/client-gone.ts'
import type { Reply, Request } from '../../http/route.ts'
import { failureOf } from '../shared/answer/answer-failure.ts'
import { clientCallsOf, suspension } from '../shared/answer/collect-answer.ts'
import { firstRun } from '../shared/answer/run-chain.ts'
import { encodeEntry, entriesUpTo, prepareEncoder, streamAnswer } from '../shared/answer/stream-answer.ts'
import { resumedRun } from '../shared/events/event-id.ts'
import { clientIdOf } from '../shared/request/session-row.ts'
import { askedBy, messageInput } from '../shared/request/start-headers.ts'
import { answerMessage, requestMetadata } from './chat-message.ts'
import { decodeThreadChat } from './decode.ts'
import { createThreadEncoder, type ThreadEncoder, toolExecution } from './encode.ts'
import { type ChainDeps, type ChainPlace, followChain, placeInChain, startOfChain } from './follow-chain.ts'
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
  { message, metadata }: ReturnType<typeof decodeThreadChat>,
  known: SessionRecord | null,
): Promise<AcceptedRun> {
  const asked = askedBy(request, body)
  if (metadata !== null && known !== null) checkMerged(known, metadata)
  return engine.runs.start({
    ...asked,
    agent: null,
    session: known === null ? { create: {} } : { existing: known },
    input: {
      ...messageInput({ id: ids.uuid(), content: message, ...(metadata === null ? {} : { metadata }) }),
      clientAnswers: 'in_stream',
    },
    metadata: metadata ?? undefined,
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
  const thread_id = clientIdOf(session)
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

// The encoder of a thread with the lookups that it needs, for streams and for whole answers.

/** How many messages are searched for results of client tools. */
const LOOK_BACK = 1_000

function createChainEncoder(
  engine: Pick<Engine, 'waits' | 'messages'>,
  session: SessionRecord,
  first: RunRecord,
): ThreadEncoder {
  const encoder = createThreadEncoder(session, first)
  return {
    ...encoder,
    async beforeEnd(terminal) {
      const calls = await clientCallsOf(engine, first.owner, terminal)
      encoder.takeCalls(calls)
      if (calls.length > 0) return
      if (waitsFor(terminal).approvalIds.length > 0) {
        // The end of a run that waits for an approval does not list the calls of client tools.
        const open = await engine.waits.openClientCalls(session.id)
        encoder.takeCalls(open.filter(({ createdAt }) => createdAt <= (terminal.timestamp ?? 0)))
      }
      if (encoder.clientCalls.size === 0) return
      const messages = await engine.messages.page(session.id, LOOK_BACK)
      encoder.takeResults(messages.filter(({ toolCallId }) => encoder.clientCalls.has(toolCallId ?? '')))
    },
  }
}

/**
 * Waits for the end of the chain that this run began, or for calls that the client has not answered: without a stream it learns of
 * them only by the answer. `runId` is the client's id of the last run, `open` are the calls that the client must run before the chain
 * goes on. Throws like `collectAnswer`.
 */
async function collectChain(
  deps: ChainDeps,
  session: SessionRecord,
  first: RunRecord,
  { signal, log }: Pick<Request, 'signal' | 'log'>,
) {
  const encoder = createChainEncoder(deps.engine, session, first)
  let end = { runId: first.wireId, endedAt: 0 }
  const collecting: ThreadEncoder = {
    ...encoder,
    encode(event) {
      if (event.type === 'RUN_STARTED') end = { ...end, runId: event.runId }
      end = { ...end, endedAt: event.timestamp ?? end.endedAt }
      return encoder.encode(event)
    },
  }
  for await (const batch of followChain(deps, startOfChain(first), signal, log)) {
    await prepareEncoder(collecting, batch)
    for (const entry of batch) encodeEntry(collecting, entry)
    const answer = encoder.answer()
    if (answer?.outcome !== 'waiting') continue
    const pending = await deps.engine.waits.openClientCalls(session.id)
    const open = pending.filter(({ callId }) => encoder.clientCalls.has(callId))
    // Otherwise the client has answered meanwhile: this is a repeated request.
    if (open.length > 0) return { answer, ...end, open }
  }
  if (signal.aborted) throw new ClientGone()
  const answer = encoder.answer()
  if (answer !== null) return { answer, ...end, open: [] }
  throw await suspension(deps.engine, first)
}
