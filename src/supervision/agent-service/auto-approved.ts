// Work that a policy let through: every piece is in the audit trail, and the session's log sums it up at the interval of the policy.

import { present } from '../../domain/present.ts'
import type { AuditRecord } from '../../domain/supervision/audit.ts'
import { visibleText } from '../../domain/text/visible-text.ts'
import type { Messenger } from '../messenger.ts'
import { activityEvent } from '../sessions/session-events.ts'
import type { SessionParts, SupervisedSession } from '../sessions/take-step.ts'
import type { Reporting } from '../workspace-policy/effective-policy.ts'
import type { PolicyRequest } from '../workspace-policy/workspace-policy.ts'
import type { WorkJudgement } from './judge-work.ts'

export interface AutoApproved {
  /** Counts a piece of work for the next summary. */
  add(session: SupervisedSession, request: PolicyRequest, judgement: WorkJudgement): void
  /** Writes the summaries that are left. */
  close(): Promise<void>
}

interface AutoApprovedDeps extends Pick<SessionParts, 'takeStep' | 'clock' | 'ids' | 'logger'> {
  tell: Messenger['tell']
}

interface Counted {
  summary: ReturnType<typeof createPolicySummary>
  reporting: Reporting | null
  cancel: (() => void) | null
}

export function createAutoApproved({ takeStep, clock, ids, logger, tell }: AutoApprovedDeps): AutoApproved {
  const counted = new Map<string, Counted>()

  async function write(sessionId: string, lines: readonly string[] | null): Promise<void> {
    if (lines === null) return
    try {
      const { session } = await takeStep(sessionId, ({ at }) => ({
        events: [activityEvent(ids.uuid(), 'auto_approved', { summary: lines.join('\n') }, at)],
      }))
      tell(session, lines.join('\n'))
    } catch (error) {
      // The audit trail has every piece of it.
      logger.warn('a summary of auto-approved work was not written', { session_id: sessionId, error })
    }
  }

  function newCount(sessionId: string): Counted {
    const count: Counted = { summary: createPolicySummary(() => count.reporting), reporting: null, cancel: null }
    counted.set(sessionId, count)
    return count
  }

  function writeWhenDue(sessionId: string, count: Counted): void {
    const dueAt = count.summary.dueAt()
    if (dueAt === null || count.cancel !== null) return
    count.cancel = clock.after(Math.max(dueAt - clock.now(), 0), () => {
      count.cancel = null
      const lines = count.summary.due(clock.now())
      // The wall clock was set back, or the interval is longer now.
      if (lines === null) return writeWhenDue(sessionId, count)
      counted.delete(sessionId)
      void write(sessionId, lines)
    })
  }

  return {
    add(session, { toolName, filePath, command }, { matchedRule, reporting }) {
      const count = counted.get(session.id) ?? newCount(session.id)
      count.reporting = reporting
      count.summary.add({ at: clock.now(), toolName, filePath, command, rule: matchedRule ?? '' })
      writeWhenDue(session.id, count)
    },
    async close() {
      const left = [...counted]
      counted.clear()
      for (const [sessionId, { summary, cancel }] of left) {
        cancel?.()
        await write(sessionId, summary.rest())
      }
    },
  }
}

/** The record of one piece of work that a policy let through. */
export const autoApprovedRecord = (
  { id, agent }: SupervisedSession,
  { toolName, filePath, command, riskLevel }: PolicyRequest,
  rule: string | null,
  { at, call, approval }: { at: number; call: string; approval: string | null },
): AuditRecord => ({
  at,
  kind: 'auto_approved',
  by: 'policy',
  session: id,
  run: null,
  agent,
  tool: toolName,
  call,
  details: present({
    tool: toolName,
    file_path: filePath,
    command,
    risk: riskLevel,
    rule,
    approval: approval ?? undefined,
  }),
})

interface ApprovedWork extends Pick<PolicyRequest, 'toolName' | 'filePath' | 'command'> {
  /** Epoch ms. */
  at: number
  rule: string
}

const MAX_RULES = 20
const MAX_NAMED = 20
const MAX_CHARS = 120

/** `reporting` is asked each time, because the policy may change between two summaries. Null: there is no summary. */
export function createPolicySummary(reporting: () => Reporting | null) {
  let first: number | null = null
  let last = 0
  let count = 0
  const byRule = new Map<string, number>()
  let named: ApprovedWork[] = []

  /** When the next summary is due, in epoch ms; null: there is nothing to sum up. */
  function dueAt(): number | null {
    const seconds = reporting()?.summaryIntervalSeconds ?? 0
    return first === null || seconds === 0 ? null : first + seconds * 1000
  }

  function startOver(): string[] | null {
    if (first === null) return null
    const lines = [
      `The policy let ${requests(count)} through without asking, ${span(first, last)}.`,
      ...ruleLines(byRule, count),
      ...(reporting()?.logAutoApproved ? workLines(named, count) : []),
    ]
    first = null
    count = 0
    byRule.clear()
    named = []
    return lines
  }

  return {
    add(work: ApprovedWork): void {
      first ??= work.at
      last = work.at
      count += 1
      if (byRule.has(work.rule) || byRule.size < MAX_RULES) byRule.set(work.rule, (byRule.get(work.rule) ?? 0) + 1)
      if (named.length < MAX_NAMED) named.push(work)
    },
    dueAt,
    /** The lines of the summary if it is due, and starts over. Null if it is not. */
    due(now: number): string[] | null {
      const at = dueAt()
      return at === null || now < at ? null : startOver()
    },
    /** A summary of what is left, for the end of a session. Null if there is nothing. */
    rest: startOver,
  }
}

const requests = (count: number): string => (count === 1 ? '1 request' : `${count} requests`)

const clockTime = (ms: number): string => new Date(ms).toISOString().slice(11, 19)

const span = (from: number, to: number): string =>
  from === to ? `at ${clockTime(from)} UTC` : `from ${clockTime(from)} to ${clockTime(to)} UTC`

function ruleLines(byRule: ReadonlyMap<string, number>, count: number): string[] {
  const lines = [...byRule].toSorted(([, a], [, b]) => b - a).map(([rule, times]) => `${times} × ${short(rule)}`)
  const counted = [...byRule.values()].reduce((sum, times) => sum + times, 0)
  return counted === count ? lines : [...lines, `${count - counted} × other rules`]
}

function workLines(named: readonly ApprovedWork[], count: number): string[] {
  const lines = named.map(({ at, toolName, filePath, command }) => {
    const what = [toolName, command ?? filePath ?? ''].filter((part) => part !== '').join(' ')
    return `${clockTime(at)} ${short(what)}`
  })
  return named.length === count ? lines : [...lines, `${count - named.length} more are not shown.`]
}

/** The agent chose the words, so no character of them may hide. */
function short(text: string): string {
  const characters = Array.from(visibleText(text))
  return characters.length > MAX_CHARS ? `${characters.slice(0, MAX_CHARS - 1).join('')}…` : characters.join('')
}
