// What a new text of a policy file changes. Only what surely allows less counts as narrower; in doubt it is wider, and an operator is
// asked.

import { isAtLeast } from '../../domain/tool-settings.ts'
import { visibleText } from '../../domain/visible-text.ts'
import type { WorkspacePolicy } from './workspace-policy.ts'

export interface PolicyChange {
  change: 'same' | 'narrower' | 'wider'
  /** What the new policy allows that the pinned one does not, a sentence each. Empty unless it is wider. */
  added: string[]
  /** What it no longer allows. */
  removed: string[]
}

export function comparePolicies(pinned: WorkspacePolicy, next: WorkspacePolicy): PolicyChange {
  const added = wider(pinned, next)
  const removed = wider(next, pinned)
  if (added.length > 0) return { change: 'wider', added, removed }
  return { change: removed.length > 0 ? 'narrower' : 'same', added, removed }
}

/** What `to` allows, or keeps from people, and `from` does not. */
function wider(from: WorkspacePolicy, to: WorkspacePolicy): string[] {
  // A policy that is switched off allows nothing, so the rest of it does not matter.
  const base: WorkspacePolicy = from.enabled
    ? from
    : { ...from, commands: [], tools: [], filePatterns: { write: [], read: [] }, riskLevelThreshold: 'low' }
  const found: string[] = []
  if (to.enabled) {
    if (!from.enabled) found.push('It is switched on.')
    if (
      to.riskLevelThreshold !== base.riskLevelThreshold &&
      isAtLeast(to.riskLevelThreshold, base.riskLevelThreshold)
    ) {
      found.push(`It covers work of ${to.riskLevelThreshold} risk.`)
    }
    const compare = (what: string, before: readonly string[], after: readonly string[]): void => {
      const known = new Set(before)
      for (const one of new Set(after)) if (!known.has(one)) found.push(`${what} ${visibleText(one)}`)
    }
    compare('Command:', base.commands, to.commands)
    compare('Tool:', base.tools, to.tools)
    compare('Write files:', base.filePatterns.write, to.filePatterns.write)
    compare('Read files:', base.filePatterns.read, to.filePatterns.read)
  }
  // An agent must not be able to make its own work less visible.
  if (from.logAutoApproved && !to.logAutoApproved) found.push('The summary no longer names each piece of work.')
  if (secondsBetween(from) < secondsBetween(to)) found.push('The summary comes less often.')
  return found
}

const secondsBetween = ({ summaryIntervalSeconds: seconds }: WorkspacePolicy): number =>
  seconds === 0 ? Number.POSITIVE_INFINITY : seconds
