// One turn of a conversation with the agent under test: sends a message, answers approvals, and collects the answer and the calls.

import { type RunEvent, type RunEventOf, type RunEventType, type TokenUsage, typeOfEventText } from '../domain/event.ts'
import type { FileRecord } from '../domain/file.ts'
import { isRecord } from '../domain/is-record.ts'
import { contentWith } from '../domain/message.ts'
import type { RunError, RunInput } from '../domain/run.ts'
import { LOCAL_USER, type SessionRecord } from '../domain/session.ts'
import type { CaseApproval } from '../domain/test-case.ts'
import type { Runs, SessionChoice } from '../engine/ports/runs.ts'
import type { MadeCall } from './case-result.ts'

/** The part of the engine that a test needs. */
export type TestedEngine = { runs: Pick<Runs, 'start' | 'follow' | 'cancel'> }

export interface Turn {
  session: SessionRecord
  /** The messages of the agent itself. A sub-agent speaks to the agent, not to the user, so its messages are left out. */
  messages: string[]
  calls: MadeCall[]
  usage: TokenUsage[]
  end:
    | { type: 'answered' }
    /** Names of the tools that the run waits for. */
    | { type: 'waiting'; approvals: string[]; clientTools: string[] }
    | { type: 'failed'; error: RunError }
    | { type: 'cancelled' }
    /** The signal aborted before the end, and the run was asked to stop. */
    | { type: 'cut_off' }
}

interface TurnRequest {
  agent: string
  session: SessionChoice
  messageId: string
  text: string
  files: readonly FileRecord[]
  answers: ApprovalAnswers
}

/** Sends one message to the agent, answers its approvals, and waits for the end. Throws like `Runs.start`. */
export async function askAgent(engine: TestedEngine, request: TurnRequest, signal: AbortSignal): Promise<Turn> {
  const { agent, files } = request
  const say = (messages: RunInput['messages']) => ({
    owner: LOCAL_USER,
    agent,
    // There is no client that could run its tools.
    input: { messages, instructions: [], context: [], clientTools: [], clientAnswers: 'none' as const },
    origin: 'background' as const,
    onBusy: 'reject' as const,
  })
  let { run, session } = await engine.runs.start({
    ...say([{ id: request.messageId, role: 'user', content: contentWith(request.text, files) }]),
    session: request.session,
    ...(files.length === 0 ? {} : { files: files.map(({ id }) => id) }),
  })
  const fold = createTurnFold()
  for (;;) {
    const { firstSeq } = run
    const target = { sessionId: session.id, runId: run.id, after: 0, ...(firstSeq ? { firstSeq } : {}) }
    for await (const batch of engine.runs.follow(target, signal)) {
      for (const { kind, data } of batch) {
        if (kind === 'event' && foldedTypes.has(typeOfEventText(data))) fold.add(JSON.parse(data))
      }
    }
    const turn = fold.turn()
    if (turn.end.type === 'cut_off') await engine.runs.cancel(run, 'quarterdeck test')
    const decisions = decisionsOn(fold.questions(), request.answers)
    if (turn.end.type !== 'waiting' || decisions === null) return { session, ...turn }
    ;({ run, session } = await engine.runs.start({
      ...say([]),
      session: { existing: session },
      decisions: { by: { user: LOCAL_USER, role: 'operator' }, answers: decisions },
    }))
    fold.goOn()
  }
}

/** The answers to approvals that a test case has. */
export interface ApprovalAnswers {
  /** The next answer for this tool, or null when the case has none. */
  next(tool: string): CaseApproval | null
  /** Answers that no approval asked for. */
  unused(): CaseApproval[]
}

export function createApprovalAnswers(given: readonly CaseApproval[]): ApprovalAnswers {
  const used = new Set<CaseApproval>()
  return {
    next(tool) {
      const mine = given.filter((one) => one.tool === tool)
      const answer = mine.find((one) => !used.has(one)) ?? mine.at(-1) ?? null
      if (answer !== null) used.add(answer)
      return answer
    },
    unused: () => given.filter((one) => !used.has(one)),
  }
}

/** An answer to each question, or null when the case has no answer for one of them. */
function decisionsOn(questions: readonly Question[], answers: ApprovalAnswers) {
  const decisions = questions.flatMap(({ id, tool }) => {
    const answer = answers.next(tool)
    if (answer === null) return []
    const { decision, arguments: edited, reason } = answer
    return [{ waitId: id, decision, ...(edited && { arguments: edited }), ...(reason !== null && { reason }) }]
  })
  return decisions.length === 0 || decisions.length < questions.length ? null : decisions
}

interface Question {
  /** Id of the approval. */
  id: string
  tool: string
}

const foldedTypes: ReadonlySet<RunEventType> = new Set<RunEventType>([
  'TEXT_MESSAGE_CONTENT',
  'TEXT_MESSAGE_END',
  'TOOL_CALL_START',
  'TOOL_CALL_ARGS',
  'TOOL_CALL_END',
  'RUN_FINISHED',
  'RUN_ERROR',
])

interface OpenCall {
  name: string
  text: string
  bySubagent: boolean
}

function createTurnFold() {
  // Ids come from models. Maps, not objects: "__proto__" must be an ordinary key.
  const said = new Map<string, string>()
  const calls = new Map<string, OpenCall>()
  const usage: TokenUsage[] = []
  let terminal: RunEventOf<'RUN_FINISHED' | 'RUN_ERROR'> | null = null
  const toolOf = (callId: string): string => calls.get(callId)?.name ?? callId

  function add(event: RunEvent): void {
    switch (event.type) {
      case 'TEXT_MESSAGE_CONTENT':
        if (event.subagentRunId === undefined)
          said.set(event.messageId, (said.get(event.messageId) ?? '') + event.delta)
        break
      case 'TEXT_MESSAGE_END':
        // The next message repeats what broke off.
        if (isBrokenOff(event.metadata)) said.delete(event.messageId)
        break
      case 'TOOL_CALL_START': {
        const bySubagent = event.subagentRunId !== undefined
        calls.set(event.toolCallId, { name: event.toolCallName, text: '', bySubagent })
        break
      }
      case 'TOOL_CALL_ARGS': {
        const call = calls.get(event.toolCallId)
        if (call !== undefined) call.text += event.delta
        break
      }
      case 'TOOL_CALL_END':
        // Incomplete arguments do not make a call.
        if (isBrokenOff(event.metadata)) calls.delete(event.toolCallId)
        break
      case 'RUN_FINISHED':
      case 'RUN_ERROR':
        terminal = event
        usage.push(...(event.usage ?? []))
        break
      default:
        break
    }
  }

  return {
    add,
    /** The approvals that the run waits for. */
    questions: () => questionsOf(terminal, toolOf),
    /** The approvals were answered, and another run continues the turn. */
    goOn() {
      terminal = null
    },
    turn: (): Omit<Turn, 'session'> => ({
      messages: [...said.values()],
      calls: [...calls.values()].map(({ name, text, bySubagent }) => ({
        name,
        arguments: objectOf(text),
        bySubagent,
      })),
      usage,
      end: endOf(terminal, toolOf),
    }),
  }
}

function endOf(
  terminal: RunEventOf<'RUN_FINISHED' | 'RUN_ERROR'> | null,
  toolOf: (callId: string) => string,
): Turn['end'] {
  if (terminal === null) return { type: 'cut_off' }
  if (terminal.type === 'RUN_ERROR') {
    return { type: 'failed', error: { code: terminal.code ?? 'internal_error', message: terminal.message } }
  }
  const { outcome } = terminal
  if (outcome?.type === 'cancelled') return { type: 'cancelled' }
  if (outcome?.type === 'interrupt') {
    return { type: 'waiting', approvals: questionsOf(terminal, toolOf).map(({ tool }) => tool), clientTools: [] }
  }
  const pending = outcome?.pendingToolCallIds ?? []
  return pending.length === 0
    ? { type: 'answered' }
    : { type: 'waiting', approvals: [], clientTools: pending.map(toolOf) }
}

function questionsOf(
  terminal: RunEventOf<'RUN_FINISHED' | 'RUN_ERROR'> | null,
  toolOf: (callId: string) => string,
): Question[] {
  if (terminal?.type !== 'RUN_FINISHED' || terminal.outcome?.type !== 'interrupt') return []
  return terminal.outcome.interrupts.map(({ id, toolCallId, reason }) => ({
    id,
    tool: toolCallId === undefined ? reason : toolOf(toolCallId),
  }))
}

function objectOf(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? { ...value } : null
  } catch {
    return null
  }
}

function isBrokenOff(metadata: Record<string, unknown> | undefined): boolean {
  const own = metadata?.quarterdeck
  return typeof own === 'object' && own !== null && 'brokenOff' in own && own.brokenOff === true
}
