// Sums up the work that a policy let through, so that people see it without being asked each time. The audit trail has every piece of it;
// this is what a channel shows.

import { visibleText } from '../../domain/text/visible-text.ts'
import type { WorkspacePolicy } from './workspace-policy.ts'

export interface ApprovedWork {
  /** Epoch ms. */
  at: number
  toolName: string
  filePath: string | null
  command: string | null
  rule: string
}

export interface PolicySummary {
  add(work: ApprovedWork): void
  /** When the next summary is due, in epoch ms; null: there is nothing to sum up. */
  dueAt(): number | null
  /** The lines of the summary if it is due, and starts over. Null if it is not. */
  due(now: number): string[] | null
  /** A summary of what is left, for the end of a session. Null if there is nothing. */
  rest(): string[] | null
}

type Reporting = Pick<WorkspacePolicy, 'logAutoApproved' | 'summaryIntervalSeconds'>

const MAX_RULES = 20
const MAX_NAMED = 20
const MAX_CHARS = 120

/** `reporting` is asked each time, because the policy may change between two summaries. Null: there is no summary. */
export function createPolicySummary(reporting: () => Reporting | null): PolicySummary {
  let first: number | null = null
  let last = 0
  let count = 0
  const byRule = new Map<string, number>()
  let named: ApprovedWork[] = []

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
    add(work) {
      first ??= work.at
      last = work.at
      count += 1
      if (byRule.has(work.rule) || byRule.size < MAX_RULES) byRule.set(work.rule, (byRule.get(work.rule) ?? 0) + 1)
      if (named.length < MAX_NAMED) named.push(work)
    },
    dueAt,
    due(now) {
      const at = dueAt()
      return at === null || now < at ? null : startOver()
    },
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
