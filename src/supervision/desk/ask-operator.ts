// forward_prompt and wait_for_instruction: the agent asks its operator what to do next, and waits.

import { ServerError } from '../../domain/errors.ts'
import { parseUuid } from '../../domain/ids.ts'
import type { AnyRecord, Prompt, RecordOf, Standby } from '../../domain/records/record.ts'
import { visibleProse } from '../../domain/visible-text.ts'
import { sha256 } from '../../json/digest.ts'
import type { Store } from '../../store/store.ts'
import type { Prompts } from '../prompts/create-prompts.ts'
import { newRecord } from '../records/new-record.ts'
import type { SessionNow, TakeStep } from '../sessions/take-step.ts'
import type { AgentDesk } from './agent-desk.ts'
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
  async function find<Kind extends 'prompt' | 'standby'>(
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

  const shared = (
    { callId, session: { supervision } }: OpenCall,
    tool: string,
    now: SessionNow,
    contentKey: string,
  ) => ({
    ...newRecord(now, ids.uuid()),
    callId,
    tool,
    arguments: '{}',
    supervised: { host: supervision.host, contentKey, returnedAt: null },
  })

  async function returned(call: OpenCall, record: Prompt | Standby): Promise<void> {
    if (record.supervised.returnedAt !== null || call.signal.aborted) return
    await takeStep(record.sessionId, ({ at }) => ({
      result: null,
      settle: [{ id: record.id, patch: { supervised: { ...record.supervised, returnedAt: at } } }],
    }))
  }

  return {
    forward_prompt: (call, input) =>
      answerCall(call, 'forward_prompt', { ...input }, async (open) => {
        const { prompt_text: text = '', prompt_type: promptType = 'continuation', prompt_id } = input
        if (prompt_id === undefined) checkPrompt(text)
        const contentKey = sha256(JSON.stringify(['prompt', promptType, text]))
        const known = await find('prompt', open, prompt_id, contentKey)
        const record =
          known ??
          (
            await takeStep<Prompt>(open.session.id, (now) => {
              const same = now.waiting.find((one) => one.wait === 'prompt' && asks(one, contentKey))
              if (same?.wait === 'prompt') return { result: same }
              const prompt: Prompt = {
                ...shared(open, 'forward_prompt', now, contentKey),
                wait: 'prompt',
                expiresAt: now.at + timeouts.promptSeconds * 1_000,
                promptText: visibleProse(text),
                promptType,
                elapsedSeconds: input.elapsed_seconds ?? null,
                actionsTaken: input.actions_taken ?? null,
                decision: null,
                instruction: null,
              }
              return { result: prompt, ask: [prompt] }
            })
          ).result
        const { id, status, decision, instruction, reason } = await answered(
          open,
          record,
          'Waiting for your operator.',
          {
            prompt_id: record.id,
          },
        )
        if (status === 'pending') return pendingAnswer('forward_prompt', { prompt_id: id })
        await returned(open, { ...record, status })
        if (status === 'interrupted') return { decision: 'stop', reason: 'cancelled', prompt_id: id }
        return {
          decision,
          ...(instruction === null ? {} : { instruction }),
          ...(reason === null ? {} : { reason }),
          prompt_id: id,
        }
      }),

    wait_for_instruction: (call, input) =>
      answerCall(call, 'wait_for_instruction', { ...input }, async (open) => {
        const { message = '', timeout_seconds = 0, wait_id } = input
        checkWait(message, timeout_seconds)
        const seconds = timeout_seconds === 0 ? timeouts.waitSeconds : timeout_seconds
        const contentKey = sha256(JSON.stringify(['standby', message]))
        const known = await find('standby', open, wait_id, contentKey)
        const record =
          known ??
          (
            await takeStep<Standby>(open.session.id, (now) => {
              const same = now.waiting.find((one) => one.wait === 'standby' && asks(one, contentKey))
              if (same?.wait === 'standby') return { result: same }
              const wait: Standby = {
                ...shared(open, 'wait_for_instruction', now, contentKey),
                wait: 'standby',
                expiresAt: seconds === 0 ? null : now.at + seconds * 1_000,
                message: visibleProse(message),
                timeoutSeconds: seconds,
                instruction: null,
              }
              return { result: wait, ask: [wait] }
            })
          ).result
        const { id, status, instruction } = await answered(open, record, 'Waiting for an instruction.', {
          wait_id: record.id,
        })
        if (status === 'pending') return pendingAnswer('wait_for_instruction', { wait_id: id })
        await returned(open, { ...record, status })
        if (status === 'interrupted') return { status: 'resumed', instruction: 'stop', wait_id: id }
        return { status, instruction, wait_id: id }
      }),
  }
}

/** An agent may ask the same twice at once. */
const asks = ({ supervised }: Prompt | Standby, contentKey: string): boolean => supervised.contentKey === contentKey

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
