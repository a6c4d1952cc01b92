// What both POST routes do with a decoded request: start a run, or find the run to resume, and answer with it.

import { createHash } from 'node:crypto'
import type { Clock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import type { Ids } from '../../domain/ids.ts'
import { type ClientCall, clientCallId } from '../../domain/records/record.ts'
import { afterTurn, newConversation } from '../../domain/session/conversation.ts'
import type { TerminalEvent } from '../../domain/session/event.ts'
import type { FileRecord } from '../../domain/session/file.ts'
import { contentWith, textOf } from '../../domain/session/message.ts'
import type { NewMessage, RunInput, RunRecord } from '../../domain/session/run.ts'
import type { RunAnswer } from '../../domain/session/run-answer.ts'
import { refuseSupervised, type SessionRecord } from '../../domain/session/session.ts'
import type { Engine } from '../../engine/engine.ts'
import type { SessionChoice } from '../../engine/ports/runs.ts'
import type { Reply, Request } from '../../http/route.ts'
import { runFailure } from '../shared/answer/answer-failure.ts'
import { clientCalls, clientCallsOf, collectAnswer } from '../shared/answer/collect-answer.ts'
import { type AnswerEncoder, streamAnswer } from '../shared/answer/stream-answer.ts'
import { resumedRun } from '../shared/events/event-id.ts'
import { beforeFirst, isOver } from '../shared/events/stream-events.ts'
import { type Attachments, startFiles } from '../shared/request/attachments.ts'
import { jsonWithFiles, releaseBody } from '../shared/request/body-with-files.ts'
import { nullIf } from '../shared/request/null-if.ts'
import type { SentFile } from '../shared/request/sent-file.ts'
import { askedBy } from '../shared/request/start-headers.ts'
import type { AnswerFormat } from './answer-format.ts'
import { type CallerTools, offeredTools } from './caller-tools.ts'
import type { Embeddings } from './embed.ts'
import { endingOf } from './ending.ts'
import { firstNew, isFilled, newResults, type TakenTurns, type Turn, takeTurns } from './turns.ts'

export interface OpenAiDeps {
  engine: Engine
  clock: Pick<Clock, 'now'>
  ids: Ids
  attachments: Attachments
  embeddings: Embeddings
}

export interface Ask {
  agent: string | null
  turns: readonly Turn[]
  callerTools: CallerTools
  format: AnswerFormat | null
  /** The field of the request that holds the turns. */
  field: string
  /** Null: the request names no conversation, and holds all messages itself. */
  session: NamedSession | null
  /** Passed on to the agent's tools. */
  props: Record<string, unknown>
  stream: boolean
}

export interface NamedSession {
  /** The spelling of the request. */
  name: string
  /** Null: the session does not exist yet. */
  record: SessionRecord | null
}

/** How one of the two APIs encodes a run. */
interface AnswerForm {
  encoder(run: RunRecord): ClientCallEncoder
  /** Of a run that has not failed. `calls` are for the caller to run. */
  whole(run: RunRecord, answer: RunAnswer, calls: readonly ClientCall[]): unknown
}

type Calls = ReadonlyMap<string, 'pending' | 'answered'>

/** Where a run begins. `calls`: those that may be answered there; null if the request holds the whole conversation. */
interface Place {
  place: SessionChoice
  calls: Calls | null
  input: Pick<RunInput, 'wireThreadId' | 'conversation'>
}

export function createAnswerRun(deps: OpenAiDeps) {
  const { engine, ids, attachments } = deps

  /** The calls that belong to this conversation and have not been given up. */
  async function callsOf(owner: string, record: SessionRecord | null, callIds: readonly string[]) {
    const found = new Map<string, 'pending' | 'answered'>()
    for (const callId of callIds) {
      const call = await engine.waits.clientCall(owner, clientCallId(callId)).catch(nullIf('tool_call_not_found'))
      if (call === null || call.callId !== callId || call.sessionId !== record?.id) continue
      if (call.status === 'pending' || call.status === 'answered') found.set(callId, call.status)
    }
    return found
  }

  /** The session that has the conversation of a request without a name, and the calls that wait there for its results. */
  async function findSame(owner: string, before: string | null, turns: readonly Turn[]) {
    const record = before === null ? null : await engine.sessions.ofConversation(owner, before)
    if (record === null) return null
    const results = newResults(turns)
    const calls = await callsOf(owner, record, results)
    // Somebody else has answered a call, or given it up.
    return results.every((id) => calls.get(id) === 'pending') ? { record, calls } : null
  }

  async function start(request: Request, ask: Ask): Promise<RunRecord> {
    const { session, turns, props } = ask
    refuseSupervised(session?.record ?? null)
    const { name } = engine.agents.get(ask.agent ?? session?.record?.agent ?? null)
    const { warnings } = ask.callerTools
    if (warnings.length > 0) request.log.warn('schemas of tools are not enforced in full', { warnings })
    if (session !== null) {
      const calls = await callsOf(request.principal.owner, session.record, newResults(turns))
      const place = session.record === null ? { create: { alias: session.name } } : { existing: session.record }
      return accept(request, ask, { place, calls, input: { wireThreadId: session.name } })
    }
    const { before, now } = await conversationDigests(name, props.user, turns)
    const input = { conversation: now }
    const same = await findSame(request.principal.owner, before, turns)
    if (same !== null) {
      const place = { existing: same.record, unchanged: true } as const
      try {
        return await accept(request, ask, { place, calls: same.calls, input })
      } catch (error) {
        // Another request has just gone on there, as when one asks twice at the same time. This is a conversation of its own.
        if (!(error instanceof ServerError) || error.code !== 'conflict') throw error
      }
    }
    return accept(request, ask, { place: { create: {} }, calls: null, input })
  }

  async function accept(request: Request, ask: Ask, { place, calls, input }: Place): Promise<RunRecord> {
    const { owner } = request.principal
    const { session, props, callerTools } = ask
    const agent = engine.agents.get(ask.agent ?? session?.record?.agent ?? null)
    const offered = offeredTools(callerTools)
    const body = await jsonWithFiles(request)
    // A header may name the conversation, so the body alone does not identify the request.
    const asked = askedBy(request, [body, session?.name ?? null])
    const options = {
      continues: calls === null ? null : { calls },
      maxMessages: agent.context.maxMessages,
      field: ask.field,
    }
    const taken = takeTurns(ask.turns, options, ids)
    const files = await attachments.take(owner, [...taken.files.values()].flat())
    const messages = withFiles(taken, files)
    // It is needed once more if the session has changed.
    const isKept = 'existing' in place && place.unchanged === true
    if (!isKept) releaseBody(request, [body, ...ask.turns])
    await attachments.check(files, agent.model?.input, request.signal)
    const { run } = await engine.runs.start({
      ...asked,
      agent: agent.name,
      session: place,
      input: {
        messages,
        instructions: taken.instructions,
        context: [],
        ...offered,
        clientAnswers: offered.clientTools.length === 0 ? 'none' : 'next_request',
        // A client of these APIs can run only the tools that it sent, and fails at any other name.
        onlyBroughtTools: true,
        ...(ask.format === null ? {} : { responseFormat: ask.format.schema }),
        ...(Object.keys(props).length === 0 ? {} : { forwardedProps: props }),
        ...input,
      },
      origin: 'reader',
      ...startFiles(files),
      // In these APIs, a new message instead of a result gives the call up.
      whenWaiting: 'abandon',
    })
    if (isKept) releaseBody(request, [body, ...ask.turns])
    return run
  }

  /** Events do not say whether another try can help, but the run does. A refusal of the model is an answer here. */
  async function refuseFinal({ owner, id }: RunRecord): Promise<void> {
    const { error } = await engine.runs.get(owner, id)
    if (error?.isFinal === true && error.code !== 'model_refused') throw runFailure(error, { is_final: true })
  }

  return async (request: Request, reply: Reply, ask: Ask, form: AnswerForm): Promise<void> => {
    if (ask.stream) reply.claimStream()
    const lastEventId = request.header('last-event-id')
    const known = ask.session?.record ?? null
    const { owner } = request.principal
    const resumed = lastEventId === undefined ? null : await resumedRun(engine, owner, lastEventId, known)
    if (known !== null) reply.note({ session_id: known.id })
    const run = resumed?.run ?? (await start(request, ask))
    reply.note({ session_id: run.sessionId, run_id: run.id })
    // OpenAI's client repeats a failed request. The message is already stored and the model has already been retried, so a
    // repetition would only send the message twice.
    reply.raw.setHeader('X-Should-Retry', 'false')
    if (!ask.stream) {
      const answer = await collectAnswer(engine, { run }, request.signal)
      if (answer.outcome === 'failed') await refuseFinal(run)
      const ending = endingOf(run, answer)
      if (ending.kind === 'failed') throw ending.error
      return reply.json(200, form.whole(run, answer, await clientCalls(engine, run.owner, answer.clientCallIds)))
    }
    const after = resumed?.after ?? beforeFirst(run)
    // An empty 200 would look like a stream that broke off.
    if (isOver(run, after)) return reply.empty(204)
    const { signal, log } = request
    const stream = reply.sse()
    const encoder = form.encoder(run)
    const beforeEnd = async (terminal: TerminalEvent) =>
      encoder.takeCalls(await clientCallsOf(engine, run.owner, terminal))
    await streamAnswer(deps, run, after, { stream, signal, log }, { ...encoder, beforeEnd })
    stream.end()
  }
}

/** Adds the stored files to their messages. `kept` has the order of `files`. */
function withFiles({ messages, files }: TakenTurns, kept: readonly FileRecord[]): NewMessage[] {
  let next = 0
  const parts = new Map<string, readonly FileRecord[]>()
  for (const [id, sent] of files) {
    parts.set(id, kept.slice(next, next + sent.length))
    next += sent.length
  }
  return messages.map((message) => ({
    ...message,
    content: contentWith(textOf(message.content), parts.get(message.id) ?? []),
  }))
}

/** An encoder that gets the calls for the caller before the end of the run. */
export interface ClientCallEncoder extends AnswerEncoder {
  takeCalls(calls: readonly ClientCall[]): void
}

// A request that names no session holds the whole conversation. If a session of the caller has just that conversation, the request
// goes on there.

/** `before`: of what was said before the new messages; null if they are the first. `now`: with the new messages. */
async function conversationDigests(agent: string, user: unknown, turns: readonly Turn[]) {
  const said = turns.filter((turn) => turn.role !== 'instructions')
  const first = firstNew(said)
  let now = newConversation(agent, typeof user === 'string' ? user : null)
  let before: string | null = null
  /** An answer in several messages is one turn. */
  let answer: { text: string; marks: string[] } | null = null
  for (const [index, turn] of said.entries()) {
    if (!isFilled(turn)) continue
    if (turn.role === 'assistant') {
      answer ??= { text: '', marks: [] }
      answer.text += turn.text
      for (const { id } of turn.calls ?? []) answer.marks.push(id)
      if (index === first - 1) before = afterTurn(now, { role: 'assistant', ...answer })
      continue
    }
    if (answer !== null) now = afterTurn(now, { role: 'assistant', ...answer })
    answer = null
    const { role, text } = turn
    now = afterTurn(now, { role, text, marks: role === 'tool' ? [turn.callId] : await filesIn(turn.files) })
  }
  return { before, now }
}

async function filesIn(files: readonly SentFile[]): Promise<string[]> {
  const digests: string[] = []
  for (const file of files)
    digests.push('base64' in file ? await contentOf(file) : 'url' in file ? file.url : file.fileId)
  return digests
}

/** A client sends a file again in the same way, so its base64 need not be decoded. */
async function contentOf({ base64 }: Extract<SentFile, { base64: unknown }>): Promise<string> {
  const hash = createHash('sha256')
  if (typeof base64 === 'string') hash.update(base64)
  else for await (const piece of base64.pieces(PIECE)) hash.update(piece)
  return hash.digest('hex')
}

const PIECE = 64 * 1024
