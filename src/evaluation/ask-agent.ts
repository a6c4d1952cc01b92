// One turn of a conversation with the agent under test: sends a message, answers approvals, and collects the answer and the calls.

import type { CaseApproval } from '../domain/agent/test-case.ts'
import { typeOfEventText } from '../domain/session/event.ts'
import type { FileRecord } from '../domain/session/file.ts'
import { contentWith } from '../domain/session/message.ts'
import type { RunInput } from '../domain/session/run.ts'
import { type AnswerSoFar, createRunFold, foldedTypes, type RunAnswer } from '../domain/session/run-answer.ts'
import { LOCAL_USER, type SessionRecord } from '../domain/session/session.ts'
import type { Runs, SessionChoice } from '../engine/ports/runs.ts'

/** What a test needs of the engine. */
export type TestedEngine = { runs: Pick<Runs, 'start' | 'follow' | 'cancel'> }

export interface Turn {
  user: string
  session: SessionRecord
  /** What was said and called, also by sub-agents. */
  said: AnswerSoFar
  /** The whole answer; null when the signal aborted first. The run was then asked to stop. */
  answer: RunAnswer | null
}

export interface TurnRequest {
  agent: string
  session: SessionChoice
  messageId: string
  text: string
  files: readonly FileRecord[]
  answers: ApprovalAnswers
}

/** What the person in a test case answers. */
export type ApprovalAnswers = ReturnType<typeof createApprovalAnswers>

export function createApprovalAnswers(given: readonly CaseApproval[]) {
  const used = new Set<CaseApproval>()
  return {
    /** The next answer about this tool; null if the case has none. */
    next(tool: string): CaseApproval | null {
      const mine = given.filter((one) => one.tool === tool)
      const answer = mine.find((one) => !used.has(one)) ?? mine.at(-1) ?? null
      if (answer !== null) used.add(answer)
      return answer
    },
    /** The answers that no question asked for. */
    unused: () => given.filter((one) => !used.has(one)),
  }
}

/** Sends one message, answers the approvals that it leads to, and waits for the end. Throws as `Runs.start` does. */
export async function askAgent(engine: TestedEngine, request: TurnRequest, signal: AbortSignal): Promise<Turn> {
  const { agent, files } = request
  const start = (messages: RunInput['messages']) => ({
    owner: LOCAL_USER,
    agent,
    // A test has no client that could run a client tool.
    input: { messages, instructions: [], context: [], clientTools: [], clientAnswers: 'none' as const },
    origin: 'background' as const,
    onBusy: 'reject' as const,
  })
  let { run, session } = await engine.runs.start({
    ...start([{ id: request.messageId, role: 'user', content: contentWith(request.text, files) }]),
    session: request.session,
    files: files.map(({ id }) => id),
  })
  const fold = createRunFold({ subagentCalls: true })
  for (;;) {
    const { firstSeq } = run
    const target = { sessionId: session.id, runId: run.id, after: 0, ...(firstSeq ? { firstSeq } : {}) }
    for await (const batch of engine.runs.follow(target, signal)) {
      for (const { kind, data } of batch) {
        if (kind === 'event' && foldedTypes.has(typeOfEventText(data))) fold.add(JSON.parse(data))
      }
    }
    const answer = fold.answer()
    if (answer === null) await engine.runs.cancel(run, 'quarterdeck test')
    const decisions = answer === null ? null : decisionsOn(answer, request.answers)
    if (decisions === null) return { user: request.text, session, said: answer ?? fold.soFar(), answer }
    ;({ run, session } = await engine.runs.start({
      ...start([]),
      session: { existing: session },
      decisions: { by: { user: LOCAL_USER, role: 'operator' }, answers: decisions },
    }))
  }
}

/** An answer to every approval that the run waits for; null if there is none to answer, or one that the case does not answer. */
function decisionsOn(answer: RunAnswer, approvals: ApprovalAnswers) {
  const decisions = answer.interrupts.flatMap(({ id, toolCallId, reason }) => {
    // A case can allow or refuse a call, but it has no words for the answer to a question of a tool.
    if (reason === 'input_required') return []
    const given = approvals.next(toolCallId === undefined ? reason : toolNameOf(answer, toolCallId))
    if (given === null) return []
    const { decision, arguments: edited, reason: why } = given
    return [{ waitId: id, decision, ...(edited && { arguments: edited }), ...(why !== null && { reason: why }) }]
  })
  return decisions.length === 0 || decisions.length < answer.interrupts.length ? null : decisions
}

export const toolNameOf = ({ toolCalls }: AnswerSoFar, callId: string): string =>
  toolCalls.find(({ id }) => id === callId)?.name ?? callId
