// What became of the calls of a run that ends because nobody knows what one of them did. Each gets a result that says so: the
// person, the model and the audit trail must not have to guess which ones ran.

import type { AuditRecord } from '../../domain/audit.ts'
import type { Ids } from '../../domain/ids.ts'
import type { StoredMessage, ToolCall } from '../../domain/message.ts'
import type { RunRecord } from '../../domain/run.ts'
import type { SessionRecord } from '../../domain/session.ts'
import type { Wait } from '../../domain/wait.ts'
import type { Store } from '../../store/store.ts'
import { openCalls } from '../run/open-calls.ts'
import type { RunWriter } from '../run/run-writer.ts'
import type { Intent, RunRemains } from './read-remains.ts'

export interface CallFate {
  call: ToolCall
  /** The call that the sub-agent works for which made this one; null: the run's own agent did. */
  lane: string | null
  /** It had begun, and whether it finished is not known. Null: it has not begun, or is an agent that was called. */
  begun: Intent | null
  /** A person had allowed it. */
  isApproved: boolean
  /** The client may be sending its result at this very moment. */
  isAtClient: boolean
  /** Of an agent that was called: what it has left open. */
  inside: CallFate[]
}

const LOOK_BACK = 1_000

/** Of all calls that are open in the session, sub-agents' calls inside of those that they work for. */
export async function readFates(
  store: Pick<Store, 'messages' | 'waits'>,
  sessionId: string,
  { unanswered }: Pick<RunRemains, 'unanswered'>,
): Promise<CallFate[]> {
  const intents = new Map(unanswered.map((intent) => [intent.call, intent]))
  const waits = await store.waits.list({ sessionId, limit: LOOK_BACK })
  const isWait = (callId: string, kind: Wait['wait'], status: Wait['status']): boolean =>
    waits.some((one) => one.callId === callId && one.wait === kind && one.status === status)
  const fatesOf = (history: readonly StoredMessage[], lane: string | null): Promise<CallFate[]> =>
    Promise.all(
      openCalls(history).calls.map(async (call) => ({
        call,
        lane,
        begun: intents.get(call.id) ?? null,
        isApproved: isWait(call.id, 'approval', 'approved'),
        isAtClient: isWait(call.id, 'client_call', 'pending'),
        inside: await fatesOf(await store.messages.ofLane(sessionId, call.id, LOOK_BACK), call.id),
      })),
    )
  return fatesOf(await store.messages.page(sessionId, LOOK_BACK), null)
}

/** The calls that did not run, in a sentence; empty when there are none. */
export function notRun(fates: readonly CallFate[]): string {
  const left = allOf(fates).filter(({ begun, inside }) => begun === null && inside.length === 0)
  const names = (calls: CallFate[]) => calls.map(({ call }) => `${call.function.name} (${call.id})`).join(', ')
  const [approved, others] = [left.filter((one) => one.isApproved), left.filter((one) => !one.isApproved)]
  return [
    approved.length === 0 ? '' : ` Not run, though approved: ${names(approved)}; the approval is void.`,
    others.length === 0 ? '' : ` Not run: ${names(others)}.`,
  ].join('')
}

/** Shows a result for each open call of the run's own agent, and gives the messages that are to be stored. */
export function tellFates(fates: readonly CallFate[], run: RunRecord, writer: RunWriter, ids: Ids): StoredMessage[] {
  return fates.flatMap((fate) => {
    if (fate.isAtClient) return []
    const { call, begun } = fate
    const messageId = ids.uuid()
    const createdAt = writer.timestamp()
    const content = resultOf(fate)
    const metadata = { quarterdeck: { status: 'error', fate: begun === null ? 'not_run' : 'unknown' } }
    const toolCallId = call.id
    writer.emit({
      type: 'TOOL_CALL_RESULT',
      messageId,
      toolCallId,
      content,
      role: 'tool',
      metadata,
      timestamp: createdAt,
    })
    return { id: messageId, role: 'tool', content, toolCallId, runId: run.id, createdAt, metadata, error: content }
  })
}

/** Calls with side effects that began: the trail has their start, and says that there is no known end. */
export function fateRecords(
  fates: readonly CallFate[],
  run: RunRecord,
  session: SessionRecord,
  at: number,
): AuditRecord[] {
  return allOf(fates).flatMap(({ call, begun }) =>
    begun === null || begun.effect === 'read'
      ? []
      : [
          {
            at,
            kind: 'call_finished' as const,
            by: run.agent,
            session: session.id,
            run: run.id,
            agent: run.agent,
            tool: begun.tool,
            call: call.id,
            details: { status: 'unknown', approval: begun.approval ?? null },
          },
        ],
  )
}

const allOf = (fates: readonly CallFate[]): CallFate[] => fates.flatMap((fate) => [fate, ...allOf(fate.inside)])

function resultOf({ begun, isApproved, inside }: CallFate): string {
  if (begun?.effect === 'once') {
    return 'The server stopped while this call was running. Whether it took effect is not known; it was not repeated. Do not send it again before a person has checked.'
  }
  if (begun !== null) return 'The server stopped while this call was running, so there is no result.'
  if (inside.length > 0) {
    const began = allOf(inside).filter((one) => one.begun !== null)
    const running = began.map(({ call }) => `${call.function.name} (${call.id})`).join(', ')
    return `This agent was broken off when the server stopped.${running === '' ? '' : ` It was running ${running}: whether that took effect is not known.`}${notRun(inside)}`
  }
  const void_ = isApproved ? ' It had been approved; that approval is void.' : ''
  return `This call did not run: the run ended before it began.${void_}`
}
