// What both routes do: start a run or find the one that is under way, and stream it as one message of `useChat`.

import type { Clock } from '../../domain/clock.ts'
import { ServerError, sessionNotFound } from '../../domain/errors.ts'
import type { Ids } from '../../domain/ids.ts'
import { clientCallId } from '../../domain/records/record.ts'
import { isTerminalText, type TerminalEvent } from '../../domain/session/event.ts'
import { contentWith } from '../../domain/session/message.ts'
import type { NewMessage, RunRecord } from '../../domain/session/run.ts'
import { waitsFor } from '../../domain/session/run-answer.ts'
import { refuseSupervised, type SessionRecord } from '../../domain/session/session.ts'
import type { Engine } from '../../engine/engine.ts'
import type { AcceptedRun, StartRequest } from '../../engine/ports/runs.ts'
import { scopeMissing } from '../../http/auth/tokens/scopes.ts'
import type { Reply, Request } from '../../http/route.ts'
import type { Approvals } from '../../supervision/approvals/approvals.ts'
import { clientCallsOf } from '../shared/answer/collect-answer.ts'
import { chainOf, type RunChain, wholeChain } from '../shared/answer/run-chain.ts'
import { entriesUpTo, streamAnswer } from '../shared/answer/stream-answer.ts'
import { resumedRun } from '../shared/events/event-id.ts'
import { beforeFirst, isOver, knownStart } from '../shared/events/stream-events.ts'
import { type Attachments, startFiles } from '../shared/request/attachments.ts'
import { jsonWithFiles, releaseBody } from '../shared/request/body-with-files.ts'
import { callerOf } from '../shared/request/caller.ts'
import { nullIf } from '../shared/request/null-if.ts'
import { type AskedStart, askedBy } from '../shared/request/start-headers.ts'
import { checkId, decodeChat, nothingToAnswer, type PageAnswer, type PageOutput, type UiChat } from './decode.ts'
import { createUiEncoder, type HeldCall } from './encode.ts'
import { type NewWords, readTurn } from './read-turn.ts'

export interface AiDeps {
  engine: Engine
  approvals: Pick<Approvals, 'get'>
  clock: Pick<Clock, 'now'>
  ids: Ids
  attachments: Attachments
}

/** What is shown: these runs as one message, behind what the reader has seen. */
interface Shown {
  chain: RunChain
  after: number
  messageId: string
  held: readonly HeldCall[]
  /** The client has seen the rest. */
  onlyEnd?: boolean
}

/** `POST /ai/chat` */
export async function answerChat(deps: AiDeps, request: Request, reply: Reply): Promise<void> {
  const { engine } = deps
  const { owner, scopes } = request.principal
  reply.claimStream()
  const body = await jsonWithFiles(request)
  const asked = askedBy(request, body)
  const chat = decodeChat(body)
  // The route is for talking, but an answer to an approval decides.
  if (chat.answers.length > 0 && scopes?.includes('decide') === false) throw scopeMissing('decide')
  const session = await engine.sessions.findForStart(owner, chat.id)
  if (session !== null) reply.note({ session_id: session.id })
  const lastEventId = request.header('last-event-id')
  if (lastEventId === undefined) {
    const shown = await takeTurn(deps, request, { body, asked, chat, session })
    return show(deps, request, reply, shown)
  }
  const { run, after } = await resumedRun(engine, owner, lastEventId, session)
  if (run.sessionId !== session?.id) throw sessionNotFound(chat.id)
  const chain: RunChain = chat.continues === null ? await chainOf(engine, run) : [run]
  return show(deps, request, reply, { chain, after, ...messageOf(chain, chat) })
}

/** `GET /ai/chat/{id}/stream`: the message that is being written, or that waits for somebody, from its beginning. */
export async function resumeChat(deps: AiDeps, request: Request, reply: Reply): Promise<void> {
  const { engine } = deps
  const { owner } = request.principal
  const id = request.params.id ?? ''
  checkId(id, 'the path')
  reply.claimStream()
  const session = await engine.sessions.findForStart(owner, id)
  const lastEventId = request.header('last-event-id')
  if (lastEventId !== undefined) {
    const { run, after } = await resumedRun(engine, owner, lastEventId, session)
    if (run.sessionId !== session?.id) throw sessionNotFound(id)
    const chain = await wholeChain(engine, run)
    return show(deps, request, reply, { chain, after, messageId: chain[0].id, held: [] })
  }
  const [active] = session === null ? [] : await engine.runs.open(session.id)
  if (active === undefined) return reply.empty(204)
  const chain = await chainOf(engine, active)
  return show(deps, request, reply, { chain, after: beforeFirst(chain[0]), messageId: chain[0].id, held: [] })
}

interface Asked {
  /** The parsed body. It is emptied once its files are stored. */
  body: unknown
  asked: AskedStart
  chat: UiChat
  session: SessionRecord | null
}

/** The answer goes on with the page's own message, if the chat ends with one. Otherwise it begins a message, named after its first run. */
const messageOf = ([first]: RunChain, { continues }: UiChat): Pick<Shown, 'messageId' | 'held'> =>
  continues ?? { messageId: first.id, held: [] }

async function takeTurn(deps: AiDeps, request: Request, given: Asked): Promise<Shown> {
  const { engine } = deps
  const { asked, chat, session } = given
  refuseSupervised(session)
  if (chat.continues !== null) return continueTurn(deps, request, given)
  // With a key the engine is asked all the same: it compares the request with what was sent under that key before.
  const attaches = !chat.regenerates && asked.idempotency === undefined
  const turn = await readTurn(engine, session, chat.messages, { attaches, lastAnswered: chat.lastAnswered })
  if (turn.kind === 'under way') {
    return { chain: turn.chain, after: beforeFirst(turn.chain[0]), ...messageOf(turn.chain, chat) }
  }
  const answers = session === null ? [] : await answersFor(deps, session, chat, true)
  // An edit leaves the branch that made the calls.
  const outputs = session === null || turn.regenerateAfter !== null ? [] : await openOutputs(engine, session, chat)
  const { run } = await start(deps, request, given, { ...turn, outputs, answers })
  return { chain: [run], after: beforeFirst(run), ...messageOf([run], chat) }
}

/** The page brings results of its tools, and answers to approvals and questions. */
async function continueTurn(deps: AiDeps, request: Request, given: Asked): Promise<Shown> {
  const { engine } = deps
  const { chat, session } = given
  if (session === null) throw sessionNotFound(chat.id)
  const answers = await answersFor(deps, session, chat, false)
  const outputs = await openOutputs(engine, session, chat)
  const last = chat.outputs.at(-1)
  // Whoever sends a result again is shown what came of it.
  if (outputs.length + answers.length === 0 && last !== undefined && (await isAnswered(engine, session, last))) {
    outputs.push(last)
  }
  if (outputs.length + answers.length === 0) throw nothingToAnswer()
  const { run, answered = [] } = await start(deps, request, given, {
    words: [],
    regenerateAfter: null,
    outputs,
    answers,
  })
  // A yes that needs more of them starts nothing. The page has seen the run that waits, so it is only told how that ended.
  const onlyEnd = run.status === 'waiting' && answered.some(({ wait }) => wait?.status === 'pending')
  return { chain: [run], after: beforeFirst(run), onlyEnd, ...messageOf([run], chat) }
}

async function openOutputs({ waits }: Engine, { id }: SessionRecord, { outputs }: UiChat): Promise<PageOutput[]> {
  if (outputs.length === 0) return []
  const open = new Set((await waits.openClientCalls(id)).map(({ callId }) => callId))
  return outputs.filter(({ toolCallId }) => open.has(toolCallId))
}

async function isAnswered(
  { waits }: Engine,
  { id, owner }: SessionRecord,
  { toolCallId }: PageOutput,
): Promise<boolean> {
  const call = await waits.clientCall(owner, clientCallId(toolCallId)).catch(nullIf('tool_call_not_found'))
  return call?.sessionId === id && call.status === 'answered'
}

/** Tells an unknown approval from one in another session. Nothing about the other session is sent to the client. */
const SEES_ALL = { user: '', role: 'operator' } as const

/**
 * The answers that count. A page sends its chat again and again, with answers that were given long ago: beside a new message they are
 * left out. Without one, a late answer leads to the run that went on. Throws `approval_not_found` for approvals of other sessions.
 */
async function answersFor(
  { approvals }: AiDeps,
  session: SessionRecord,
  { answers }: UiChat,
  talks: boolean,
): Promise<PageAnswer[]> {
  const counted: PageAnswer[] = []
  for (const answer of answers) {
    const approval = await approvals.get(SEES_ALL, answer.waitId).catch(nullIf('approval_not_found'))
    if (approval?.sessionId !== session.id) {
      const shownId = JSON.stringify(answer.waitId.slice(0, 64))
      throw new ServerError('approval_not_found', `This chat has no approval ${shownId}.`)
    }
    if (!talks || approval.status === 'pending') counted.push(answer)
  }
  return counted
}

interface Taken extends Pick<UiChat, 'outputs' | 'answers'> {
  words: readonly NewWords[]
  regenerateAfter: string | null
}

async function start(
  { engine, ids, attachments }: AiDeps,
  request: Request,
  { body, asked, chat, session }: Asked,
  { words, outputs, answers, regenerateAfter }: Taken,
): Promise<AcceptedRun> {
  const { owner } = request.principal
  const agent = engine.agents.get(chat.agent ?? session?.agent ?? null)
  const files = await attachments.take(
    owner,
    words.flatMap((one) => one.files),
  )
  const counts = words.map((one) => one.files.length)
  releaseBody(request, [body, chat, ...words])
  await attachments.check(files, agent.model?.input, request.signal)
  let taken = 0
  const messages: NewMessage[] = [
    ...outputs.map((output): NewMessage => ({ id: ids.uuid(), role: 'tool', ...output })),
    ...words.map(({ id, text }, index): NewMessage => {
      const own = files.slice(taken, taken + (counts[index] ?? 0))
      taken += own.length
      return { id, role: 'user', content: contentWith(text, own) }
    }),
  ]
  const starting: StartRequest = {
    ...asked,
    agent: chat.agent,
    session: session === null ? { create: { alias: chat.id } } : { existing: session },
    input: {
      messages,
      instructions: chat.instructions,
      context: [],
      clientTools: [],
      clientAnswers: 'next_request',
      wireThreadId: chat.id,
      ...(Object.keys(chat.props).length === 0 ? {} : { forwardedProps: chat.props }),
      ...(regenerateAfter === null ? {} : { regenerateAfter }),
    },
    ...startFiles(files),
    // What a person has approved is carried out, even if nobody watches any more.
    origin: answers.length === 0 || words.length > 0 ? 'reader' : 'background',
    // A new message gives up the open client tools. It cannot give up a person's decision.
    whenWaiting: 'abandon',
    decisions: answers.length === 0 ? undefined : { by: callerOf(request), answers },
  }
  return engine.runs.start(starting)
}

async function show(deps: AiDeps, request: Request, reply: Reply, shown: Shown): Promise<void> {
  const { engine } = deps
  const { chain, after, messageId, held, onlyEnd = false } = shown
  const run = chain[chain.length - 1] ?? chain[0]
  reply.note({ session_id: run.sessionId, run_id: run.id })
  // An empty 200 would look like a stream that broke off.
  if (isOver(run, after)) return reply.empty(204)
  reply.raw.setHeader('x-vercel-ai-ui-message-stream', 'v1')
  const { signal, log } = request
  const stream = reply.sse()
  const encoder = createUiEncoder({ run, messageId, held, runsBefore: chain.length - 1 })
  const beforeEnd = async (terminal: TerminalEvent) => encoder.takeCalls(await callsFor(engine, run, terminal))

  async function* follow(target: Parameters<Engine['runs']['follow']>[0], until: AbortSignal) {
    for (const one of chain.slice(0, -1)) {
      if (after < (one.lastSeq ?? 0)) yield* engine.runs.follow({ ...target, runId: one.id, ...knownStart(one) }, until)
    }
    for await (const batch of engine.runs.follow({ ...target, after: Math.max(after, beforeFirst(run)) }, until)) {
      yield onlyEnd ? batch.filter(({ kind, data }) => kind === 'event' && isTerminalText(data)) : batch
    }
  }

  await streamAnswer(
    deps,
    run,
    after,
    { stream, signal, log },
    { ...encoder, beforeEnd },
    { seen: () => entriesUpTo(engine, chain, after), follow },
  )
  stream.end()
}

/** The calls that the page runs. Beside an approval, the event of the end does not name them. */
async function callsFor(engine: Engine, { owner, sessionId }: RunRecord, terminal: TerminalEvent) {
  const { approvalIds } = waitsFor(terminal)
  return approvalIds.length === 0 ? clientCallsOf(engine, owner, terminal) : engine.waits.openClientCalls(sessionId)
}
