import { ServerError } from '../../domain/errors.ts'
import {
  type AnyRecord,
  type AskedInWords,
  isAsked,
  type Prompt,
  type PromptDecision,
  type RecordOf,
  type Standby,
  type SupervisedRecord,
} from '../../domain/records/record.ts'
import { aboutCall } from '../../domain/supervision/approval-audit.ts'
import type { AuditRecord } from '../../domain/supervision/audit.ts'
import type { Caller } from '../../domain/supervision/decision.ts'
import { oneLine } from '../records/record-words.ts'
import { alreadyAnswered, type Records } from '../records/records.ts'
import { checkReason, checkText } from '../sessions/check-text.ts'
import { decidedNow, escalatedTo, refuseForeignCommand, viaOf } from '../sessions/may-command.ts'
import type { Changes, SessionNow, SessionParts } from '../sessions/take-step.ts'

interface PromptsDeps extends Pick<SessionParts, 'takeStep' | 'operators'> {
  records: Records
}

/** A prompt is answered with `continue` this often in a row without a person. Then the agent has to stop. */
const MOST_CONTINUES = 3

export function createPrompts({ records, takeStep, operators }: PromptsDeps): Prompts {
  /** Answers a record that still waits. The first answer wins, in the store. */
  async function settle<Kind extends AskedInWords['wait']>(
    kind: Kind,
    by: Caller,
    id: string,
    patch: Partial<SupervisedRecord> & { instruction: string | null },
    what: string,
  ): Promise<RecordOf<Kind>> {
    const record = await records.get(kind, by, id)
    const { result } = await takeStep(record.sessionId, ({ waiting, session, at }) => {
      refuseForeignCommand(operators, by, session.owner, at - record.createdAt)
      if (!waiting.some((one) => one.id === record.id)) return { result: null }
      const decided = decidedNow(by, at)
      return {
        result: { ...record, ...patch, ...decided },
        supervision: {
          updatedAt: at,
          silence: null,
          continuesAlone: 0,
          ...(patch.instruction === null ? {} : { told: oneLine(patch.instruction) }),
        },
        settle: [{ id: record.id, patch: { ...patch, ...decided } }],
        audit: [decisionOf(record, by, what, at, escalatedTo(operators, by, session.owner))],
      }
    })
    if (result !== null) return result
    const late = await records.get(kind, by, id)
    throw alreadyAnswered(late, wordOf(late))
  }

  return {
    async decide(by, id, answer) {
      const instruction = checkAnswer(answer)
      const { decision, reason = null } = answer
      const patch = { status: 'decided', decision, instruction, reason } as const
      return settle('prompt', by, id, patch, decision)
    },

    async resume(by, id, { instruction }) {
      if (instruction !== null) checkText(instruction)
      return settle('standby', by, id, { status: 'resumed', instruction }, 'resumed')
    },

    async expire(wait) {
      await takeStep(wait.sessionId, (now) => {
        const open = now.waiting.find(({ id }) => id === wait.id)
        if (open === undefined || !isAsked(open) || open.wait === 'approval') return {}
        return open.wait === 'prompt' ? unanswered(now, open) : timedOut(now, open)
      })
    },
  }
}

/** Nobody answered in time. */
const byTimeout: Caller = { user: 'timeout', role: 'operator', via: 'clock' }

const timedOut = ({ at }: SessionNow, wait: Standby): Changes => ({
  supervision: { silence: { ms: 0, seenAt: at } },
  settle: [{ id: wait.id, patch: { status: 'timeout', decidedAt: at, decidedBy: 'timeout' } }],
  audit: [decisionOf(wait, byTimeout, 'timeout', at)],
})

/** Nobody answered in time. Only a plain continuation goes on by itself, and only a few times in a row. */
function unanswered({ session, at }: SessionNow, prompt: Prompt): Changes {
  const { continuesAlone } = session.supervision
  const goesOn = prompt.promptType === 'continuation' && continuesAlone < MOST_CONTINUES
  const isWornOut = prompt.promptType === 'continuation' && !goesOn
  const decision = goesOn ? 'continue' : 'stop'
  const reason = isWornOut
    ? `Nobody has answered ${MOST_CONTINUES} prompts in a row. Stop, and wait for your operator.`
    : goesOn
      ? null
      : 'timeout'
  return {
    supervision: { silence: { ms: 0, seenAt: at }, continuesAlone: goesOn ? continuesAlone + 1 : continuesAlone },
    settle: [{ id: prompt.id, patch: { status: 'decided', decision, reason, decidedAt: at, decidedBy: 'timeout' } }],
    audit: [decisionOf(prompt, byTimeout, decision, at)],
  }
}

function checkAnswer({ decision, instruction, reason }: PromptAnswer): string | null {
  checkReason(reason)
  if (instruction !== undefined) checkText(instruction)
  if (decision === 'refine' && instruction === undefined) {
    throw new ServerError('invalid_request', 'With "refine", say what to do instead: send `instruction`.')
  }
  return instruction ?? null
}

const wordOf = (record: AskedInWords): string =>
  record.wait === 'prompt' && record.decision !== null ? `answered with "${record.decision}"` : record.status

const decisionOf = (
  record: AskedInWords,
  by: Caller,
  decision: string,
  at: number,
  more: AuditRecord['details'] = {},
): AuditRecord => ({
  at,
  kind: 'decision',
  by: by.user,
  ...aboutCall(record),
  details: { record: record.id, kind: record.wait, decision, ...viaOf(by), ...more },
})

/** What people answer to agents that asked what to do next. */
export interface Prompts {
  /** Throws `record_not_found`, `forbidden`, `invalid_request` (refine without a text), `record_decided`. */
  decide(by: Caller, id: string, answer: PromptAnswer): Promise<Prompt>
  /** Tells a waiting agent what to do. Throws as `decide`. */
  resume(by: Caller, id: string, answer: { instruction: string | null }): Promise<Standby>
  expire(wait: AnyRecord): Promise<void>
}

interface PromptAnswer {
  decision: PromptDecision
  /** What to do instead, with `refine`. */
  instruction?: string | undefined
  reason?: string | undefined
}
