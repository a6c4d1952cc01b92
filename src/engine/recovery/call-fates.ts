// What became of each open call when a crashed run is ended. Each call gets a result that says so: people, the model and the audit
// trail must not have to guess which calls ran.

import type { Ids } from '../../domain/ids.ts'
import type { AnyRecord } from '../../domain/records/record.ts'
import type { StoredMessage, ToolCall } from '../../domain/session/message.ts'
import type { RunRecord } from '../../domain/session/run.ts'
import type { SessionRecord } from '../../domain/session/session.ts'
import type { AuditRecord } from '../../domain/supervision/audit.ts'
import type { Store } from '../../store/store.ts'
import { openCalls, showResult } from '../loop/call-records.ts'
import type { RunWriter } from '../run/run-writer.ts'
import type { Intent, RunRemains } from './read-remains.ts'

export interface CallFate {
  call: ToolCall
  /** The lane of the sub-agent that made the call. Null: the run's own agent made it. */
  lane: string | null
  /** The call began, and nobody knows whether it finished. Null: it has not begun, or it calls an agent. */
  begun: Intent | null
  /** A person has approved it. */
  isApproved: boolean
  /** The client may be sending its result right now. */
  isAtClient: boolean
  /** If the call is to an agent: the calls that this agent has left open. */
  inside: CallFate[]
}

const LOOK_BACK = 1_000

/** The fates of all open calls of the session. Calls of a sub-agent are inside the call that it works for. */
export async function readFates(
  store: Pick<Store, 'messages' | 'waits'>,
  sessionId: string,
  { unanswered }: Pick<RunRemains, 'unanswered'>,
): Promise<CallFate[]> {
  const intents = new Map(unanswered.map((intent) => [intent.call, intent]))
  const waits = await store.waits.list({ sessionId, limit: LOOK_BACK })
  const isWait = (callId: string, kind: AnyRecord['wait'], status: AnyRecord['status']): boolean =>
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

/** A sentence that names the calls that did not run. Empty when there are none. */
export function notRun(fates: readonly CallFate[]): string {
  const left = allOf(fates).filter(({ begun, inside }) => begun === null && inside.length === 0)
  const names = (calls: CallFate[]) => calls.map(({ call }) => `${call.function.name} (${call.id})`).join(', ')
  const [approved, others] = [left.filter((one) => one.isApproved), left.filter((one) => !one.isApproved)]
  return [
    approved.length === 0 ? '' : ` Not run, though approved: ${names(approved)}; the approval is void.`,
    others.length === 0 ? '' : ` Not run: ${names(others)}.`,
  ].join('')
}

/** Emits a result for each open call of the run's own agent. Returns the messages to store. */
export function tellFates(fates: readonly CallFate[], run: RunRecord, writer: RunWriter, ids: Ids): StoredMessage[] {
  return fates.flatMap((fate) => {
    if (fate.isAtClient) return []
    const { call, begun } = fate
    const told = begun === null ? 'not_run' : begun.isSuspended === true ? 'suspended' : 'unknown'
    const metadata = { quarterdeck: { status: 'error', fate: told } }
    const message = showResult({ run, ids }, writer, call, resultOf(fate), metadata)
    return { ...message, error: message.content }
  })
}

/** The audit trail has the start of each call with side effects. These records say that its end is not known. */
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
            details: { status: begun.isSuspended === true ? 'suspended' : 'unknown', approval: begun.approval ?? null },
          },
        ],
  )
}

const allOf = (fates: readonly CallFate[]): CallFate[] => fates.flatMap((fate) => [fate, ...allOf(fate.inside)])

function resultOf({ begun, isApproved, inside }: CallFate): string {
  if (begun?.isSuspended === true) {
    return 'This call had stopped to ask a person a question, and the run ended before the answer. What the call did before it asked stays done.'
  }
  if (begun?.effect === 'once') {
    return 'The server stopped while this call was running. Whether it took effect is not known; it was not repeated. Do not send it again before a person has checked.'
  }
  if (begun !== null) return 'The server stopped while this call was running, so there is no result.'
  if (inside.length > 0) {
    const began = allOf(inside).filter((one) => one.begun !== null)
    const running = began.map(({ call }) => `${call.function.name} (${call.id})`).join(', ')
    return `This agent was cut off when the server stopped.${running === '' ? '' : ` It was running ${running}; whether that took effect is not known.`}${notRun(inside)}`
  }
  const void_ = isApproved ? ' It had been approved; that approval is void.' : ''
  return `This call did not run: the run ended before it began.${void_}`
}
