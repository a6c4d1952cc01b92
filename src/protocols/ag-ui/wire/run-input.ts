// What a POST with a RunAgentInput does: resume, attach, hydrate or start a run. Shared by the doors that take that input.

import type { Clock } from '../../../domain/clock.ts'
import { sessionNotFound } from '../../../domain/errors.ts'
import type { RunRecord } from '../../../domain/run.ts'
import type { SessionRecord } from '../../../domain/session.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { Reply, Request } from '../../../http/route.ts'
import type { Approvals } from '../../../supervision/approvals/approvals.ts'
import { entryAt } from '../../shared/events/entry-at.ts'
import { parseEventId } from '../../shared/events/event-id.ts'
import { openEventStream } from '../../shared/events/open-event-stream.ts'
import { beforeFirst, isEndOf, isOver, streamRun } from '../../shared/events/stream-run.ts'
import { type Attachments, startFiles } from '../../shared/request/attachments.ts'
import type { FileLinks } from '../../shared/request/file-links.ts'
import { jsonWithFiles } from '../../shared/request/json-with-files.ts'
import { releaseBody } from '../../shared/request/release-body.ts'
import { standingOf } from '../../shared/request/standing.ts'
import { idempotencyOf, onBusyOf } from '../../shared/request/start-headers.ts'
import { type AgUiInput, decodeRunAgentInput } from './decode-input.ts'
import { keepFiles } from './keep-files.ts'
import { inResume, knownAnswers } from './known-answers.ts'
import { showThread, showUnknownThread } from './show-thread.ts'
import { behindFirst, type InputWarning, warningEvents } from './stream-warnings.ts'
import { editPoint, type KnownHistory, type SentInput, type Taken, takeHistory } from './take-history.ts'

export interface RunDoorDeps {
  engine: Engine
  approvals: Approvals
  clock: Pick<Clock, 'now'>
  attachments: Attachments
  links: FileLinks
}

/** Does what the input asks for, with the agent of that name (null: the default one), and streams the answer. */
export type RunDoor = (request: Request, reply: Reply, agent: string | null) => Promise<void>

export function createRunDoor(deps: RunDoorDeps): RunDoor {
  const { engine, clock, attachments } = deps

  /** The events of a run after `after`, then live. */
  async function show(
    call: Call,
    run: RunRecord,
    after: number,
    warnings: readonly InputWarning[] = [],
  ): Promise<void> {
    const { request, reply, input } = call
    reply.note({ session_id: run.sessionId, run_id: run.id })
    // An empty 200 would look like a stream that broke off.
    if (isOver(run, after)) return reply.empty(204)
    const reader = await openEventStream(request, reply, input.reader)
    const told = warningEvents(warnings, clock.now())
    const tell = async () => reader.stream.write(reader.encoder.events(told))?.catch(() => {})
    const follow: Engine['runs']['follow'] = (target, until) => behindFirst(engine.runs.follow(target, until), tell)
    await streamRun(
      told.length === 0 ? deps : { ...deps, engine: { ...engine, runs: { ...engine.runs, follow } } },
      run,
      after,
      reader,
    )
    reader.stream.end()
  }

  /** Never starts work: the run that owns the event goes on where this reader left it. */
  async function resume(call: Call, session: SessionRecord | null, lastEventId: string): Promise<void> {
    const { owner } = call.request.principal
    const { sessionId, seq } = parseEventId(lastEventId)
    if (session?.id !== sessionId) throw sessionNotFound(sessionId)
    const seen = await entryAt(engine.sessions, sessionId, seq)
    const run = await engine.runs.get(owner, seen.runId ?? call.input.runId)
    return isEndOf(run, seen) ? call.reply.empty(204) : show(call, run, seq)
  }

  function hydrate(call: Call, session: SessionRecord | null, given: readonly InputWarning[]): Promise<void> {
    const { threadId, runId, reader: reads, messages } = call.input
    const asked = { ...call, threadId, runId, reads, warnings: warningEvents(given, clock.now()) }
    if (session !== null) return showThread(deps, asked, session)
    // A client deletes what a snapshot omits, and of a thread that we do not know we can say nothing.
    return showUnknownThread(deps, asked, messages.length === 0 ? [] : null)
  }

  return async (request, reply, agent) => {
    const { owner } = request.principal
    engine.agents.get(agent)
    const onBusy = onBusyOf(request)
    const body = await jsonWithFiles(request)
    const idempotency = idempotencyOf(request, body)
    const input = decodeRunAgentInput(body)
    const call = { request, reply, input }
    const session = await engine.sessions.find(owner, input.threadId)
    if (session === null) await engine.sessions.refuseForeign(owner, input.threadId)
    else reply.note({ session_id: session.id })

    const lastEventId = request.header('last-event-id')
    if (lastEventId !== undefined) return resume(call, session, lastEventId)

    const taken = takeHistory(input, await knownHistory(engine, session, input))
    const by = standingOf(request.principal)
    // An empty thread would look as if the answer had been taken.
    if (session === null && taken.kind === 'hydrate' && input.answers.length > 0) throw sessionNotFound(input.threadId)
    const { answers, warnings: unanswered } = await knownAnswers(deps.approvals, session, input.answers, talks(taken))
    const leftOut = (warnings: readonly string[]) => {
      if (warnings.length > 0) request.log.warn('parts of an AG-UI input were left out', { warnings })
    }
    leftOut([...input.warnings, ...taken.warnings, ...unanswered.map(({ message }) => message)])

    const existing = session === null ? null : await engine.runs.byWireId(session.id, input.runId)
    // An answer is one whatever its runId: CopilotKit repeats that of the run which asked.
    const isAnswer = answers.length > 0 || (input.answers.length > 0 && talks(taken))
    // With a key the engine is asked all the same: it compares what was sent under that key before.
    if (existing !== null && !isAnswer && idempotency === undefined) {
      releaseBody(request, [body, input])
      return show(call, existing, beforeFirst(existing), unanswered)
    }
    if (existing === null && taken.kind === 'hydrate' && answers.length === 0) return hydrate(call, session, unanswered)

    const asked = taken.kind === 'run' ? taken.input : nothingNew(input)
    const { messages, files, warnings } = await keepFiles(attachments, owner, session, asked.messages)
    leftOut(warnings)
    releaseBody(request, [body, input, asked])
    const starting = engine.runs.start({
      correlationId: request.correlationId,
      owner,
      agent,
      session: session === null ? { create: { alias: input.threadId } } : { existing: session },
      // Unique in its thread: under one that is taken the run gets an id of its own.
      ...(existing !== null && isAnswer ? {} : { wireRunId: input.runId }),
      ...(input.parentRunId === undefined ? {} : { parentRunId: input.parentRunId }),
      input: { ...asked, messages },
      ...startFiles(files),
      // What a person has allowed is carried out, whoever goes on watching.
      origin: answers.length === 0 || talks(taken) ? 'reader' : 'background',
      // A user who goes on talking has given up what the page was to do; a person's decision cannot be given up so.
      whenWaiting: 'abandon',
      ...(answers.length === 0 ? {} : { decisions: { by, answers } }),
      ...(onBusy === undefined ? {} : { onBusy }),
      ...(idempotency === undefined ? {} : { idempotency }),
    })
    const { run } = await starting.catch((error: unknown) => {
      throw inResume(error, input.answers)
    })
    return show(call, run, beforeFirst(run), unanswered)
  }
}

interface Call {
  request: Request
  reply: Reply
  input: AgUiInput
}

async function knownHistory(engine: Engine, session: SessionRecord | null, input: AgUiInput): Promise<KnownHistory> {
  const ids = input.messages.map(({ id }) => id)
  if (session === null) return { messages: new Map(), openCalls: new Set(), editedAfter: null }
  const known = ids.length === 0 ? [] : await engine.messages.marks(session.id, ids)
  const messages = new Map(known.map((message) => [message.id, message]))
  const bringsResults = input.messages.some(({ id, role }) => role === 'tool' && !messages.has(id))
  const open = bringsResults ? await engine.waits.openClientCalls(session.id) : []
  const end = editPoint(input.messages, known)
  const editedAfter = end !== null && (await engine.messages.userSpokeAfter(session.id, end)) ? end : null
  return { messages, openCalls: new Set(open.map(({ callId }) => callId)), editedAfter }
}

/** Whether the client says something new beside its answers. */
const talks = (taken: Taken): boolean =>
  taken.kind === 'run' && taken.input.messages.some(({ role }) => role === 'user')

const nothingNew = ({ threadId, shared }: AgUiInput): SentInput => ({
  messages: [],
  instructions: [],
  wireThreadId: threadId,
  ...shared,
})
