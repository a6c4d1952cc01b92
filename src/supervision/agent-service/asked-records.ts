// What agents elsewhere ask a person: how it is found again, asked once, waited for and given back.

import { ServerError } from '../../domain/errors.ts'
import { parseUuid } from '../../domain/ids.ts'
import { present } from '../../domain/present.ts'
import {
  type AnyRecord,
  type AskedRecord,
  isAsked,
  isSupervised,
  type Prompt,
  type Standby,
  type SupervisedApproval,
} from '../../domain/records/record.ts'
import { askedRecord } from '../../domain/supervision/approval-audit.ts'
import type { Quorum } from '../../domain/supervision/quorum.ts'
import type { Store } from '../../store/store.ts'
import type { ProposedChange } from '../diffs/propose-change.ts'
import { newRecord } from '../records/records.ts'
import type { SessionNow, Step, SupervisedSession } from '../sessions/take-step.ts'
import type { AgentCall } from './agent-service.ts'
import { refuseInactive } from './answer-call.ts'
import { createWaitForAnswer, type WaitForAnswerDeps } from './wait-for.ts'

/** What `newApproval` says of every approval. */
type FilledIn =
  | keyof ReturnType<typeof newRecord>
  | 'wait'
  | 'policyVersion'
  | 'answerableBy'
  | 'quorum'
  | 'editedArguments'
  | 'consumedAt'
  | 'supervised'

/** What an agent asks a person to approve. */
export type Question = Omit<SupervisedApproval, FilledIn> & {
  contentKey: string
  /** Null: it changes no file. */
  change: SupervisedApproval['supervised']['change']
}

/** Rules of our own agents have a version that questions are bound to. Agents elsewhere have none. */
export const ELSEWHERE = 'elsewhere'

/** `quorum`: how many people have to say yes. */
export function newApproval(now: SessionNow, id: string, question: Question, quorum: Quorum): SupervisedApproval {
  const needed = quorum[question.risk]
  const { contentKey, change, ...rest } = question
  const { host } = now.session.supervision
  return present({
    ...rest,
    ...newRecord(now, id),
    wait: 'approval' as const,
    policyVersion: ELSEWHERE,
    answerableBy: 'operator' as const,
    quorum: needed === 1 ? undefined : needed,
    editedArguments: null,
    consumedAt: null,
    supervised: { host, contentKey, returnedAt: null, change, mayForce: false, isEdited: false, appliedAt: null },
  })
}

/** The step that asks it. `path`: the file that it touches; null: none, or nobody knows. */
export function askStep(
  approval: SupervisedApproval,
  change: Pick<ProposedChange, 'diff' | 'after'> | null,
  path: string | null,
): Step<SupervisedApproval> {
  const audit = askedRecord(approval)
  return {
    result: approval,
    ask: [approval],
    proposals: change === null ? [] : [{ approvalId: approval.id, diff: change.diff, after: change.after }],
    audit: [{ ...audit, details: { ...audit.details, kind: approval.kind, file_path: path } }],
  }
}

/** What an agent asks for: approvals by what is to be approved. */
export interface AskedAs {
  prompt: Prompt
  standby: Standby
  diff: SupervisedApproval
  permission: SupervisedApproval
}
type Asks = keyof AskedAs

export interface AskedRecords {
  /** An approval as it is now. Throws `record_not_found`. */
  current(id: string): Promise<SupervisedApproval>
  /** Throws `record_not_found` unless it is of this kind, this owner and this workspace. */
  byId<Kind extends Asks>(session: SupervisedSession, kind: Kind, id: string): Promise<AskedAs[Kind]>
  /** One with the same content that waits, or whose answer was never returned. */
  byContent<Kind extends Asks>(sessionId: string, kind: Kind, contentKey: string): Promise<AskedAs[Kind] | null>
  /** Asks, or finds what was asked a moment ago: an agent may ask the same twice at once. */
  ask<Kind extends Asks>(
    sessionId: string,
    kind: Kind,
    contentKey: string,
    question: (now: SessionNow) => Step<AskedAs[Kind]>,
  ): Promise<AskedAs[Kind]>
  /**
   * Waits for the answer, as long as the host allows. Still pending: nobody has answered, or the caller has gone. `retryWith`: see
   * `createWaitForAnswer`.
   */
  answered<One extends AskedRecord>(
    call: AgentCall,
    record: One,
    message: string,
    retryWith: Readonly<Record<string, string>> | null,
  ): Promise<One>
  /**
   * Says that the agent gets the answer now. A permission that was given is used up by it. False: somebody else got it first, and it
   * counts once. Throws `session_paused` or `session_ended` if the operator has stopped the agent meanwhile: then it is not used up.
   */
  handOut(call: AgentCall, record: AskedRecord): Promise<boolean>
}

interface AskedDeps extends WaitForAnswerDeps {
  store: Pick<Store, 'waits' | 'sessions'>
}

/** Questions of one session that are looked at. Older ones are found by their id. */
const RECENT = 200

export function createAskedRecords(deps: AskedDeps): AskedRecords {
  const { store, takeStep } = deps
  const get = async (id: string) => asAsked(await store.waits.get(parseUuid(id) ?? ''))

  /** Asked in this session, which keeps what it asked when it is handed over, or in another one of the same owner in the same folder. */
  async function isOwn(record: AskedRecord, { id, owner, supervision }: SupervisedSession): Promise<boolean> {
    if (record.sessionId === id) return true
    const asker = await store.sessions.get(record.sessionId)
    return record.owner === owner && asker?.supervision?.workspaceRoot === supervision.workspaceRoot
  }

  return {
    async current(id) {
      const record = await get(id)
      if (record?.wait !== 'approval') throw notFound('approval', id)
      return record
    },

    async byId(session, kind, id) {
      const record = await get(id)
      if (record !== null && isOf(record, kind) && (await isOwn(record, session))) return record
      throw notFound(waitOf(kind), id)
    },

    async byContent(sessionId, kind, contentKey) {
      for (const one of await store.waits.list({ wait: waitOf(kind), sessionId, limit: RECENT })) {
        const record = asAsked(one)
        if (record === null || !isOf(record, kind) || record.supervised.contentKey !== contentKey) continue
        const { status, supervised } = record
        const isOver = status === 'interrupted' || status === 'consumed'
        if (status === 'pending' || (!isOver && supervised.returnedAt === null)) return record
      }
      return null
    },

    async ask(sessionId, kind, contentKey, question) {
      const { result } = await takeStep(sessionId, (now) => {
        for (const one of now.waiting) {
          if (isAsked(one) && isOf(one, kind) && one.supervised.contentKey === contentKey) return { result: one }
        }
        return question(now)
      })
      return result
    },

    answered: createWaitForAnswer(deps),

    async handOut(call, { id, sessionId }) {
      if (call.signal.aborted) return false
      const { result } = await takeStep(sessionId, async ({ session, at }): Promise<Step<boolean>> => {
        const record = await get(id)
        if (record === null) return { result: false }
        const isPermission = record.wait === 'approval' && record.kind === 'permission'
        const uses = isPermission && record.status === 'approved'
        if (uses) refuseInactive(session)
        if (isPermission && record.status === 'consumed') return { result: false }
        if (record.supervised.returnedAt !== null && !uses) return { result: true }
        const supervised = { ...record.supervised, returnedAt: at }
        const used = uses ? { status: 'consumed', consumedAt: at } : {}
        return { result: true, settle: [{ id, patch: { supervised, ...used } }] }
      })
      return result
    },
  }
}

const waitOf = (kind: Asks): AskedRecord['wait'] => (kind === 'prompt' || kind === 'standby' ? kind : 'approval')

const notFound = (what: string, id: string): ServerError =>
  new ServerError('record_not_found', `There is no ${what} ${JSON.stringify(id)} that you have asked for.`)

const asAsked = (wait: AnyRecord | null): AskedRecord | null =>
  wait !== null && isSupervised(wait) && isAsked(wait) ? wait : null

const isOf = <Kind extends Asks>(record: AskedRecord, kind: Kind): record is AskedRecord & AskedAs[Kind] =>
  (record.wait === 'approval' ? record.kind : record.wait) === kind

/** What a model is told when its host would not wait any longer. */
export const pendingAnswer = (tool: string, retryWith: Record<string, string>): Record<string, unknown> => ({
  status: 'pending',
  ...retryWith,
  id: Object.values(retryWith)[0],
  retry_with: retryWith,
  message: `Nobody has answered yet. Call ${tool} again with ${JSON.stringify(retryWith)} to go on waiting. Do not go on without the answer.`,
})
