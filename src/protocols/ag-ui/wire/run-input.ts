// What a RunAgentInput asks for: to resume a stream, to attach to a run, to show the thread, or to start a run. The routes of
// AG-UI, CopilotKit and AgentCore decode their requests and then call `runInput`.

import type { Clock } from '../../../domain/clock.ts'
import { ServerError, sessionNotFound } from '../../../domain/errors.ts'
import type { RunRecord } from '../../../domain/session/run.ts'
import { refuseSupervised, type SessionRecord } from '../../../domain/session/session.ts'
import type { Decision } from '../../../domain/supervision/decision.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { Runs } from '../../../engine/ports/runs.ts'
import { scopeMissing } from '../../../http/auth/tokens/scopes.ts'
import type { Reply, Request } from '../../../http/route.ts'
import type { Approvals } from '../../../supervision/approvals/approvals.ts'
import { entryAt, parseEventId } from '../../shared/events/event-id.ts'
import { beforeFirst, isEndOf, isOver, openEventStream, streamRun } from '../../shared/events/stream-events.ts'
import { type Attachments, startFiles } from '../../shared/request/attachments.ts'
import { releaseBody } from '../../shared/request/body-with-files.ts'
import { callerOf } from '../../shared/request/caller.ts'
import type { FileLinks } from '../../shared/request/file-links.ts'
import { nullIf } from '../../shared/request/null-if.ts'
import type { AskedStart } from '../../shared/request/start-headers.ts'
import { type AgUiInput, type Answer, decisionOf, isForApp } from './decode-input.ts'
import { diffHistory, editPoint, type HistoryDiff, type KnownHistory, type SentInput } from './diff-history.ts'
import { keepFiles } from './keep-files.ts'
import { showThread, showUnknownThread, type ThreadRequest } from './show-thread.ts'
import { behindFirst, type InputWarning, warningEvents } from './stream-warnings.ts'

export interface RunInputDeps {
  engine: Engine
  approvals: Approvals
  clock: Pick<Clock, 'now'>
  attachments: Attachments
  links: FileLinks
}

/** A decoded request, and where its answer goes. */
export interface InputCall {
  request: Request
  reply: Reply
  /** Name of the agent that answers; null is the default agent. */
  agent: string | null
  input: AgUiInput
  /** Id or alias of the session. It is the id of the thread, unless the protocol names the session elsewhere. */
  sessionName: string
  asked: AskedStart
  /** The parsed body. It is emptied once its files are stored. */
  body: unknown
  /** How the events of a run are read, if not as they are stored. */
  follow?: Runs['follow']
  /** What a client is shown of the outcome of a thread that it comes back to, if not all of it. */
  showOutcome?: ThreadRequest['showOutcome']
}

/** Does what the input asks for and streams the answer. */
export async function runInput(deps: RunInputDeps, call: InputCall): Promise<void> {
  const { engine, clock } = deps
  const { request, reply, input, sessionName } = call
  reply.claimStream()
  // The route is for talking, but an answer in the input decides.
  if (input.answers.length > 0 && request.principal.scopes?.includes('decide') === false) throw scopeMissing('decide')
  const session = await engine.sessions.findForStart(request.principal.owner, sessionName)
  if (session !== null) reply.note({ session_id: session.id })

  if (isForApp(input)) return (await import('./answer-app.ts')).answerApp(deps, call, session)

  const lastEventId = request.header('last-event-id')
  if (lastEventId !== undefined) return resume(deps, call, session, lastEventId)

  const diff = diffHistory(input, session === null ? NOTHING_KNOWN : await knownHistory(engine, session, input))
  // An empty thread would look as if the answer had been accepted.
  if (session === null && diff.kind === 'hydrate' && input.answers.length > 0) throw sessionNotFound(input.threadId)
  const given =
    input.answers.length === 0
      ? NO_ANSWERS
      : await answersForSession(deps.approvals, session, input.answers, bringsMessage(diff))
  const { answers, warnings } = given
  const leftOut = [...input.warnings, ...diff.warnings, ...warnings.map(({ message }) => message)]
  if (leftOut.length > 0) request.log.warn('parts of an AG-UI input were left out', { warnings: leftOut })

  const existing = session === null ? null : await engine.runs.byWireId(session.id, input.runId)
  // An answer counts whatever its runId is: CopilotKit repeats the runId of the run that asked.
  const isAnswer = answers.length > 0 || (input.answers.length > 0 && bringsMessage(diff))
  // With a key the engine is asked all the same: it compares the request with what was sent under that key before.
  if (existing !== null && !isAnswer && call.asked.idempotency === undefined) {
    releaseBody(request, [call.body, input])
    return showRun(deps, call, existing, beforeFirst(existing), warnings)
  }
  const { threadId, runId, reader: reads, messages } = input
  const asked = () => ({ ...call, threadId, runId, reads, warnings: warningEvents(warnings, clock.now()) })
  if (existing === null && diff.kind === 'hydrate' && answers.length === 0) {
    if (session !== null) return showThread(deps, asked(), session)
    // A client deletes what a snapshot omits, and we know nothing about the messages of an unknown thread.
    return showUnknownThread(deps, asked(), messages.length === 0 ? [] : null)
  }
  const run = await start(deps, call, { session, diff, given, isWireIdTaken: existing !== null && isAnswer })
  // A yes that needs more of them starts nothing. The client has seen the run that waits, so it is shown the thread as it stands.
  if (session !== null && answers.length > 0 && run.status === 'waiting') return showThread(deps, asked(), session)
  return showRun(deps, call, run, beforeFirst(run), warnings)
}

interface Decided {
  session: SessionRecord | null
  diff: HistoryDiff
  given: SessionAnswers
  isWireIdTaken: boolean
}

async function start(
  { engine, attachments }: RunInputDeps,
  { request, agent, input, sessionName, asked, body }: InputCall,
  { session, diff, given: { answers }, isWireIdTaken }: Decided,
): Promise<RunRecord> {
  const { owner } = request.principal
  // Before its files are stored.
  refuseSupervised(session)
  const withoutMessages = { messages: [], instructions: [], wireThreadId: input.threadId, ...input.shared }
  const sent: SentInput = diff.kind === 'run' ? diff.input : withoutMessages
  const { messages, files } = await keepFiles(attachments, owner, session, sent.messages)
  releaseBody(request, [body, input, sent])
  const starting = engine.runs.start({
    ...asked,
    agent,
    session: session === null ? { create: { alias: sessionName } } : { existing: session },
    // A run id is unique in its thread. If it is taken, the run gets an id of its own.
    wireRunId: isWireIdTaken ? undefined : input.runId,
    parentRunId: input.parentRunId,
    input: { ...sent, messages },
    ...startFiles(files),
    // What a person has approved is carried out, even if nobody watches any more.
    origin: answers.length === 0 || bringsMessage(diff) ? 'reader' : 'background',
    // A new message gives up the open client tools. It cannot give up a person's decision.
    whenWaiting: 'abandon',
    decisions: answers.length === 0 ? undefined : { by: callerOf(request), answers },
  })
  const { run } = await starting.catch((error: unknown) => {
    throw withResumePointers(error, input.answers)
  })
  return run
}

/** Streams the events of a run after `after`, then live. */
async function showRun(
  deps: RunInputDeps,
  { request, reply, input, follow = deps.engine.runs.follow }: InputCall,
  run: RunRecord,
  after: number,
  warnings: readonly InputWarning[] = [],
): Promise<void> {
  reply.note({ session_id: run.sessionId, run_id: run.id })
  // An empty 200 would look like a stream that broke off.
  if (isOver(run, after)) return reply.empty(204)
  const reader = await openEventStream(request, reply, input.reader)
  const told = warningEvents(warnings, deps.clock.now())
  const tell = async () => reader.stream.write(reader.encoder.events(told))?.catch(() => {})
  const followTold: Runs['follow'] = (target, until) => behindFirst(follow(target, until), tell)
  await streamRun({ ...deps, comesBack: false }, run, after, reader, told.length === 0 ? follow : followTold)
  reader.stream.end()
}

/** Never starts a run: the run that owns the event continues where this reader left off. */
async function resume(
  deps: RunInputDeps,
  call: InputCall,
  session: SessionRecord | null,
  lastEventId: string,
): Promise<void> {
  const { sessionId, seq } = parseEventId(lastEventId)
  if (session?.id !== sessionId) throw sessionNotFound(sessionId)
  const seen = await entryAt(deps.engine.sessions, sessionId, seq)
  const run = await deps.engine.runs.get(call.request.principal.owner, seen.runId ?? call.input.runId)
  return isEndOf(run, seen) ? call.reply.empty(204) : showRun(deps, call, run, seq)
}

const NOTHING_KNOWN: KnownHistory = { messages: new Map(), openCalls: new Set(), editedAfter: null }

async function knownHistory(engine: Engine, session: SessionRecord, input: AgUiInput): Promise<KnownHistory> {
  const ids = input.messages.map(({ id }) => id)
  const known = ids.length === 0 ? [] : await engine.messages.marks(session.id, ids)
  const messages = new Map(known.map((message) => [message.id, message]))
  const bringsResults = input.messages.some(({ id, role }) => role === 'tool' && !messages.has(id))
  const open = bringsResults ? await engine.waits.openClientCalls(session.id) : []
  const end = editPoint(input.messages, known)
  const editedAfter = end !== null && (await engine.messages.userSpokeAfter(session.id, end)) ? end : null
  return { messages, openCalls: new Set(open.map(({ callId }) => callId)), editedAfter }
}

/** Whether the client sends a new user message beside its answers. */
const bringsMessage = (diff: HistoryDiff): boolean =>
  diff.kind === 'run' && diff.input.messages.some(({ role }) => role === 'user')

interface SessionAnswers {
  answers: readonly (Decision & { waitId: string })[]
  /** Warnings to the client about answers that were ignored. */
  warnings: readonly InputWarning[]
}

const NO_ANSWERS: SessionAnswers = { answers: [], warnings: [] }

/**
 * The answers that apply to this session. An answer to an unknown interrupt is ignored, not refused, as AG-UI asks. A late answer
 * attaches to the run that continued, unless the client also sends a new message (`talks`), which counts more. Throws
 * `approval_not_found` for an interrupt of another thread, whoever owns it.
 */
async function answersForSession(
  approvals: Pick<Approvals, 'get'>,
  session: SessionRecord | null,
  given: readonly Answer[],
  talks: boolean,
): Promise<SessionAnswers> {
  const answers: SessionAnswers['answers'][number][] = []
  const warnings: InputWarning[] = []
  const ignore = (code: InputWarning['code'], waitId: string, why: string) => {
    const interruptId = waitId.slice(0, 64)
    const message = `The answer to the interrupt ${JSON.stringify(interruptId)} was ignored: ${why}`
    if (warnings.length < MAX_WARNINGS) warnings.push({ code, message, interruptId })
  }
  for (const answer of given) {
    const approval = await approvals.get(SEES_ALL, answer.waitId).catch(nullIf('approval_not_found'))
    if (approval === null) ignore('unknown_interrupt', answer.waitId, 'there is no interrupt with this id.')
    else if (approval.sessionId !== session?.id) throw notHere(answer.waitId)
    else if (talks && approval.status !== 'pending') {
      ignore('answered_interrupt', answer.waitId, 'it has already been answered, and your new message counts more.')
    } else answers.push({ waitId: answer.waitId, ...decisionOf(answer, approval) })
  }
  return { answers, warnings }
}

/** Tells an unknown interrupt from one in another session. Nothing about the other session is sent to the client. */
const SEES_ALL = { user: '', role: 'operator' } as const
const MAX_WARNINGS = 10

const notHere = (waitId: string): ServerError =>
  new ServerError('approval_not_found', `This thread has no interrupt ${JSON.stringify(waitId.slice(0, 64))}.`)

/** The engine points into the decision. Our client wrote the decision inside `resume`, so the pointers must point there. */
function withResumePointers(error: unknown, given: readonly Answer[]): unknown {
  if (!(error instanceof ServerError) || error.problems.length === 0) return error
  const index = given.findIndex(({ waitId }) => waitId === error.details.approval_id)
  if (index < 0) return error
  return new ServerError(error.code, error.message, {
    details: { ...error.details },
    problems: error.problems.map(({ pointer, detail }) => ({
      pointer: pointer
        .replace(/^\/arguments/, `/resume/${index}/payload/editedArgs`)
        .replace(/^\/result/, `/resume/${index}/payload`),
      detail,
    })),
    cause: error,
  })
}
