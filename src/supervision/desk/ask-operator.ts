// forward_prompt and wait_for_instruction: the agent asks its operator what to do next, and waits.

import { ServerError } from '../../domain/errors.ts'
import { parseUuid } from '../../domain/ids.ts'
import { type AnyRecord, type AskedInWords, isAsked, type RecordOf } from '../../domain/records/record.ts'
import { recordKinds } from '../../domain/records/record-kinds.ts'
import { visibleProse } from '../../domain/text/visible-text.ts'
import { sha256 } from '../../json/digest.ts'
import type { Store } from '../../store/store.ts'
import type { Prompts } from '../prompts/create-prompts.ts'
import { newRecord } from '../records/new-record.ts'
import type { SessionNow, Step, TakeStep } from '../sessions/take-step.ts'
import type { AgentDesk, ToolName } from './agent-desk.ts'
import type { AnswerCall, CallDeps, OpenCall } from './answer-call.ts'
import { createWaitForAnswer, isOwnRecord, type WaitFor } from './wait-for.ts'

interface AskDeps extends Pick<CallDeps, 'clock' | 'ids'> {
  answerCall: AnswerCall
  takeStep: TakeStep
  waitFor: WaitFor
  store: Pick<Store, 'waits' | 'sessions'>
  prompts: Pick<Prompts, 'expire'>
  timeouts: { promptSeconds: number; waitSeconds: number }
}

const MOST_PROMPT_CHARS = 10_000
/** Ten years: longer than any wait. */
const MOST_WAIT_SECONDS = 315_360_000
const KEPT_OPEN = 100

export function createAskOperator(deps: AskDeps): Pick<AgentDesk, 'forward_prompt' | 'wait_for_instruction'> {
  const { answerCall, takeStep, waitFor, store, prompts, clock, ids, timeouts } = deps
  const answered = createWaitForAnswer({ waitFor, takeStep, store, clock, expire: prompts.expire })

  /** By id the same record always; by the same content one that waits, or whose answer was never returned. */
  async function find<Kind extends AskedInWords['wait']>(
    kind: Kind,
    { session }: OpenCall,
    id: string | undefined,
    contentKey: string,
  ): Promise<RecordOf<Kind> | null> {
    const asKind = (wait: AnyRecord | null) => (wait?.wait === kind ? (wait as RecordOf<Kind>) : null)
    if (id !== undefined) {
      const named = asKind(await store.waits.get(parseUuid(id) ?? ''))
      if (named !== null && (await isOwnRecord(store, named, session))) return named
      throw new ServerError('record_not_found', `There is no ${kind} ${JSON.stringify(id)} of this session.`)
    }
    const recent = await store.waits.list({ wait: kind, sessionId: session.id, limit: KEPT_OPEN })
    return (
      recent
        .flatMap((wait) => asKind(wait) ?? [])
        .find(({ status, supervised }) => {
          const isOpen = status === 'pending' || (supervised.returnedAt === null && status !== 'interrupted')
          return isOpen && supervised.contentKey === contentKey
        }) ?? null
    )
  }

  async function returned(call: OpenCall, { id, sessionId, supervised }: AskedInWords): Promise<void> {
    if (supervised.returnedAt !== null || call.signal.aborted) return
    await takeStep(sessionId, ({ at }) => ({
      result: null,
      settle: [{ id, patch: { supervised: { ...supervised, returnedAt: at } } }],
    }))
  }

  /** Asks, or finds what was asked before, and waits. An agent may ask the same twice at once. */
  async function askAndWait<Kind extends AskedInWords['wait']>(
    open: OpenCall,
    { kind, tool, id, content, seconds, fields, waiting, answer }: Question<Kind>,
  ): Promise<Record<string, unknown>> {
    const idField = recordKinds[kind].wire.id
    const contentKey = sha256(JSON.stringify([kind, ...content]))
    const ask = (now: SessionNow): Step<RecordOf<Kind>> => {
      const same = now.waiting.find(
        (one) => one.wait === kind && isAsked(one) && one.supervised.contentKey === contentKey,
      )
      if (same !== undefined) return { result: same as AnyRecord as RecordOf<Kind> }
      const asked: object = {
        ...newRecord(now, ids.uuid()),
        callId: open.callId,
        tool,
        arguments: '{}',
        supervised: { host: open.session.supervision.host, contentKey, returnedAt: null },
        wait: kind,
        expiresAt: seconds === 0 ? null : now.at + seconds * 1_000,
        ...fields,
      }
      const record = asked as RecordOf<Kind>
      return { result: record, ask: [record] }
    }
    const record = (await find(kind, open, id, contentKey)) ?? (await takeStep(open.session.id, ask)).result
    const retryWith = { [idField]: record.id }
    const now = await answered(open, record, waiting, retryWith)
    if (now.status === 'pending') return pendingAnswer(tool, retryWith)
    await returned(open, record)
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
              : {
                  decision,
                  ...(instruction === null ? {} : { instruction }),
                  ...(reason === null ? {} : { reason }),
                },
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
  fields: Omit<RecordOf<Kind>, keyof ReturnType<typeof newRecord> | Given>
  /** What the host is told meanwhile. */
  waiting: string
  answer(record: RecordOf<Kind>): Record<string, unknown>
}

/** What a model is told when its host would not wait any longer. */
export const pendingAnswer = (tool: string, retryWith: Record<string, string>): Record<string, unknown> => ({
  status: 'pending',
  ...retryWith,
  id: Object.values(retryWith)[0],
  retry_with: retryWith,
  message: `Nobody has answered yet. Call ${tool} again with ${JSON.stringify(retryWith)} to go on waiting. Do not go on without the answer.`,
})

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
