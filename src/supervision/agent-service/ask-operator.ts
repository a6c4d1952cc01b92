// forward_prompt and wait_for_instruction: the agent asks its operator what to do next, and waits.

import { ServerError } from '../../domain/errors.ts'
import { present } from '../../domain/present.ts'
import type { AskedInWords } from '../../domain/records/record.ts'
import { recordKinds } from '../../domain/records/record-kinds.ts'
import { visibleProse } from '../../domain/text/visible-text.ts'
import { sha256 } from '../../json/digest.ts'
import { newRecord } from '../records/records.ts'
import type { SessionNow, Step } from '../sessions/take-step.ts'
import type { AgentService, ToolName } from './agent-service.ts'
import type { AnswerCall, CallDeps, OpenCall } from './answer-call.ts'
import { type AskedAs, type AskedRecords, pendingAnswer } from './asked-records.ts'

interface AskDeps extends Pick<CallDeps, 'ids'> {
  answerCall: AnswerCall
  asked: AskedRecords
  timeouts: { promptSeconds: number; waitSeconds: number }
}

const MOST_PROMPT_CHARS = 10_000
/** Ten years: longer than any wait. */
const MOST_WAIT_SECONDS = 315_360_000

export function createAskOperator(deps: AskDeps): Pick<AgentService, 'forward_prompt' | 'wait_for_instruction'> {
  const { answerCall, asked, ids, timeouts } = deps

  /** Asks, or finds what was asked before, and waits. An agent may ask the same twice at once. */
  async function askAndWait<Kind extends AskedInWords['wait']>(
    open: OpenCall,
    { kind, tool, id, content, seconds, fields, waiting, answer }: Question<Kind>,
  ): Promise<Record<string, unknown>> {
    const idField = recordKinds[kind].wire.id
    const contentKey = sha256(JSON.stringify([kind, ...content]))
    const ask = (now: SessionNow): Step<AskedAs[Kind]> => {
      const filled: object = {
        ...newRecord(now, ids.uuid()),
        callId: open.callId,
        tool,
        arguments: '{}',
        supervised: { host: open.session.supervision.host, contentKey, returnedAt: null },
        wait: kind,
        expiresAt: seconds === 0 ? null : now.at + seconds * 1_000,
        ...fields,
      }
      const record = filled as AskedAs[Kind]
      return { result: record, ask: [record] }
    }
    const { session } = open
    const known =
      id === undefined ? await asked.byContent(session.id, kind, contentKey) : await asked.byId(session, kind, id)
    const record = known ?? (await asked.ask(session.id, kind, contentKey, ask))
    const retryWith = { [idField]: record.id }
    const now = await asked.answered(open, record, waiting, retryWith)
    if (now.status === 'pending') return pendingAnswer(tool, retryWith)
    await asked.handOut(open, now)
    return { ...answer(now), ...retryWith }
  }

  return {
    forward_prompt: (call, input) =>
      answerCall(call, 'forward_prompt', { ...input }, async (open) => {
        const { prompt_text: text = '', prompt_type: promptType = 'continuation', prompt_id } = input
        if (prompt_id === undefined) checkPrompt(text)
        return askAndWait(open, {
          kind: 'prompt',
          tool: 'forward_prompt',
          id: prompt_id,
          content: [promptType, text],
          seconds: timeouts.promptSeconds,
          fields: {
            promptText: visibleProse(text),
            promptType,
            elapsedSeconds: input.elapsed_seconds ?? null,
            actionsTaken: input.actions_taken ?? null,
            decision: null,
            instruction: null,
          },
          waiting: 'Waiting for your operator.',
          answer: ({ status, decision, instruction, reason }) =>
            status === 'interrupted'
              ? { decision: 'stop', reason: 'cancelled' }
              : present({ decision, instruction: instruction ?? undefined, reason: reason ?? undefined }),
        })
      }),

    wait_for_instruction: (call, input) =>
      answerCall(call, 'wait_for_instruction', { ...input }, async (open) => {
        const { message = '', timeout_seconds = 0, wait_id } = input
        checkWait(message, timeout_seconds)
        const seconds = timeout_seconds === 0 ? timeouts.waitSeconds : timeout_seconds
        return askAndWait(open, {
          kind: 'standby',
          tool: 'wait_for_instruction',
          id: wait_id,
          content: [message],
          seconds,
          fields: { message: visibleProse(message), timeoutSeconds: seconds, instruction: null },
          waiting: 'Waiting for an instruction.',
          answer: ({ status, instruction }) =>
            status === 'interrupted' ? { status: 'resumed', instruction: 'stop' } : { status, instruction },
        })
      }),
  }
}

/** What is filled in for every kind. */
type Given = 'wait' | 'callId' | 'tool' | 'arguments' | 'supervised' | 'expiresAt' | 'escalatedTo'

/** One question of an agent, from asking to the answer. */
interface Question<Kind extends AskedInWords['wait']> {
  kind: Kind
  tool: ToolName
  /** Of the record that the agent goes on waiting for. */
  id: string | undefined
  /** What is asked. The same words find the same record. */
  content: readonly string[]
  /** After which it expires; 0: never. */
  seconds: number
  /** What only this kind has. */
  fields: Omit<AskedAs[Kind], keyof ReturnType<typeof newRecord> | Given>
  /** What the host is told meanwhile. */
  waiting: string
  answer(record: AskedAs[Kind]): Record<string, unknown>
}

function checkPrompt(text: string): void {
  const chars = [...text].length
  if (text.trim() === '' || chars > MOST_PROMPT_CHARS) {
    throw new ServerError('invalid_request', `prompt_text needs 1 to ${MOST_PROMPT_CHARS} characters; it has ${chars}.`)
  }
}

function checkWait(message: string, seconds: number): void {
  if ([...message].length > MOST_PROMPT_CHARS) {
    throw new ServerError('invalid_request', `message may have at most ${MOST_PROMPT_CHARS} characters.`)
  }
  if (!Number.isInteger(seconds) || seconds < 0 || seconds > MOST_WAIT_SECONDS) {
    throw new ServerError('invalid_request', 'timeout_seconds must be a whole number of seconds, 0 or more.')
  }
}
