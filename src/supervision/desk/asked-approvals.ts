// Approvals that agents elsewhere ask for: how one is made, found again, waited for and given back.

import { type Clock, isoTime } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import { parseUuid } from '../../domain/ids.ts'
import {
  type AnyRecord,
  type Approval,
  isSupervisedApproval,
  type SupervisedApproval,
  type SupervisedRecord,
} from '../../domain/records/record.ts'
import { ONE_PERSON, type Quorum } from '../../domain/supervision/quorum.ts'
import type { Store } from '../../store/store.ts'
import type { Answerer } from '../approvals/decide.ts'
import { newRecord } from '../records/new-record.ts'
import type { SessionNow, SupervisedSession, TakeStep } from '../sessions/take-step.ts'
import type { AgentCall } from './agent-desk.ts'
import { refuseInactive } from './answer-call.ts'
import { createWaitForAnswer, isOwnRecord, type WaitFor } from './wait-for.ts'

/** What `newApproval` says of every approval. */
type FilledIn =
  | keyof ReturnType<typeof newRecord>
  | 'wait'
  | 'action'
  | 'policyVersion'
  | 'answerableBy'
  | 'quorum'
  | 'editedArguments'
  | 'consumedAt'
  | 'supervised'

type Hashes = 'beforeHash' | 'afterHash'

/** What an agent asks a person to approve. */
export type Question = Omit<SupervisedApproval, FilledIn | Hashes> &
  Partial<Pick<SupervisedApproval, Hashes>> & {
    contentKey: string
    change?: SupervisedApproval['supervised']['change']
  }

/** Rules of our own agents have a version that questions are bound to. Agents elsewhere have none. */
export const ELSEWHERE = 'elsewhere'

/** `quorum`: how many people have to say yes. Left out: one. */
export function newApproval(
  now: SessionNow,
  id: string,
  question: Question,
  quorum: Quorum = ONE_PERSON,
): SupervisedApproval {
  const needed = quorum[question.risk]
  const { contentKey, change = null, ...rest } = question
  const { host } = now.session.supervision
  return {
    beforeHash: null,
    afterHash: null,
    ...rest,
    ...newRecord(now, id),
    wait: 'approval',
    action: null,
    policyVersion: ELSEWHERE,
    answerableBy: 'operator',
    ...(needed === 1 ? {} : { quorum: needed }),
    editedArguments: null,
    consumedAt: null,
    supervised: { host, contentKey, returnedAt: null, change, mayForce: false, isEdited: false, appliedAt: null },
  }
}

export interface AskedApprovals {
  /** As it is now. Throws `record_not_found`. */
  current(id: string): Promise<SupervisedApproval>
  /** Throws `record_not_found` unless it is of this kind, this owner and this workspace. */
  byId(session: SupervisedSession, kind: Approval['kind'], id: string): Promise<SupervisedApproval>
  /** One with the same content that waits, or whose answer was never returned. */
  byContent(sessionId: string, kind: Approval['kind'], contentKey: string): Promise<SupervisedApproval | null>
  /** Waits for the answer, as long as the host allows. Still pending: nobody has answered, or the caller has gone. */
  answered(call: AgentCall, record: SupervisedApproval, message: string): Promise<SupervisedApproval>
  /**
   * Says that the agent gets the answer now. A permission that was given is used up by it. False: somebody else got it first, and it
   * counts once. Throws `session_paused` or `session_ended` if the operator has stopped the agent meanwhile: then it is not used up.
   */
  handOut(call: AgentCall, record: SupervisedApproval): Promise<boolean>
}

interface AskedDeps {
  store: Pick<Store, 'waits' | 'sessions'>
  takeStep: TakeStep
  waitFor: WaitFor
  approvals: Pick<Answerer, 'expire'>
  clock: Clock
}

/** Questions of one session that are looked at. Older ones are found by their id. */
const RECENT = 200

export function createAskedApprovals({ store, takeStep, waitFor, approvals, clock }: AskedDeps): AskedApprovals {
  const expire = async (wait: SupervisedRecord) => {
    if (wait.wait === 'approval') await approvals.expire(wait)
  }
  const waitForAnswer = createWaitForAnswer({ waitFor, takeStep, store, clock, expire })
  const get = async (id: string) => asSupervised(await store.waits.get(parseUuid(id) ?? ''))

  return {
    async current(id) {
      const record = await get(id)
      if (record === null) throw notFound(id)
      return record
    },

    async byId(session, kind, id) {
      const record = await get(id)
      if (record?.kind === kind && (await isOwnRecord(store, record, session))) return record
      throw notFound(id)
    },

    async byContent(sessionId, kind, contentKey) {
      const recent = await store.waits.list({ wait: 'approval', sessionId, limit: RECENT })
      const same = recent.map(asSupervised).find((record) => {
        if (record?.kind !== kind || record.supervised.contentKey !== contentKey) return false
        return record.status === 'pending' || (isAnswer(record) && record.supervised.returnedAt === null)
      })
      return same ?? null
    },

    answered: (call, record, message) =>
      waitForAnswer(call, record, message, record.kind === 'diff' ? { request_id: record.id } : undefined),

    async handOut(call, { id, sessionId }) {
      if (call.signal.aborted) return false
      const { result } = await takeStep(sessionId, async ({ session, at }) => {
        const record = await get(id)
        if (record === null) return { result: false }
        const uses = record.kind === 'permission' && record.status === 'approved'
        if (uses) refuseInactive(session)
        if (record.kind === 'permission' && record.status === 'consumed') return { result: false }
        if (record.supervised.returnedAt !== null && !uses) return { result: true }
        const supervised = { ...record.supervised, returnedAt: at }
        const used = uses ? { status: 'consumed', consumedAt: at } : {}
        return { result: true, settle: [{ id, patch: { supervised, ...used } }] }
      })
      return result
    },
  }
}

const notFound = (id: string): ServerError =>
  new ServerError('record_not_found', `You have asked for no approval ${JSON.stringify(id)}.`)

/** A person, a rule or the clock has answered. */
const isAnswer = ({ status }: Approval): boolean => ['approved', 'rejected', 'expired'].includes(status)

const asSupervised = (wait: AnyRecord | null): SupervisedApproval | null =>
  wait !== null && isSupervisedApproval(wait) ? wait : null

/** How it was decided, for the agent: `by ann at 2026-…`. */
export const decidedText = ({ decidedBy, decidedAt }: Approval): string =>
  [decidedBy === null ? '' : ` by ${decidedBy}`, decidedAt === null ? '' : ` at ${isoTime(decidedAt)}`].join('')
