// What counts of a policy file now: what the text that an operator has pinned and the text on the disk both allow. So an edit that narrows
// counts at once, and one that widens counts after an operator's yes.

import { isAtLeast } from '../../domain/agent/tool-settings.ts'
import type { PolicyPin } from '../../domain/supervision/supervision.ts'
import { visibleText } from '../../domain/text/visible-text.ts'
import type { FoundPolicy, PolicyFile } from './find-policy.ts'
import { ask, type Judgement, judgeRequest, type PolicyLimits } from './judge-request.ts'
import { type ReadPolicy, readPolicy } from './read-policy.ts'
import type { PolicyRequest, WorkspacePolicy } from './workspace-policy.ts'

/** An operator's yes to one text. Kept outside the workspace. The text is kept too: a hash alone cannot say what an edit has changed. */
export type PinnedPolicy = Pick<PolicyPin, 'sha256' | 'text'>

export type EffectivePolicy =
  /** Nothing is allowed, and nobody has to do anything about it. */
  | { state: 'none' }
  /** Nothing is allowed until somebody fixes the file. `warning` says what is wrong. */
  | { state: 'unreadable'; file: PolicyFile; warning: string }
  /** Nothing is allowed until an operator pins this text. */
  | { state: 'unpinned'; file: PolicyFile; sha256: string; text: string; policy: WorkspacePolicy }
  | {
      state: 'pinned'
      file: PolicyFile
      sha256: string
      text: string
      pinned: WorkspacePolicy
      policy: WorkspacePolicy
      /** From the pinned text to the one on the disk. If it is wider, an operator may pin the new text. */
      change: PolicyChange
    }

/** `read` is an argument so that a caller can keep what it has read. */
export function effectivePolicy(
  pin: PinnedPolicy | null,
  found: FoundPolicy,
  read: (text: string) => ReadPolicy = readPolicy,
): EffectivePolicy {
  if (found.state === 'none') return { state: 'none' }
  const { file } = found
  if (found.state === 'unreadable') return unreadable(file, found.reason)
  const { text, sha256 } = found
  const current = read(text)
  if (current.policy === null) {
    const [first] = current.problems
    const more = current.problems.length - 1
    const place =
      first === undefined ? '' : `line ${first.line}: ${[first.path, first.message].filter(Boolean).join(': ')}`
    return unreadable(file, more > 0 ? `${place} (and ${more} more)` : place)
  }
  const { policy } = current
  const pinned = pin === null ? null : read(pin.text).policy
  // A pinned text that this version cannot read any more is not a yes to anything.
  if (pin === null || pinned === null) return { state: 'unpinned', file, sha256, text, policy }
  return { state: 'pinned', file, sha256, text, pinned, policy, change: comparePolicies(pinned, policy) }
}

const unreadable = (file: PolicyFile, reason: string): EffectivePolicy => ({
  state: 'unreadable',
  file,
  warning: `${file} cannot be used, so every request needs an approval: ${reason} Try: quarterdeck policy check ${file}`,
})

/** Never allows what the pinned text does not allow. */
export function judgeEffective(effective: EffectivePolicy, request: PolicyRequest, limits: PolicyLimits): Judgement {
  switch (effective.state) {
    case 'none':
      return ask('The workspace has no policy file.')
    case 'unreadable':
      return ask(effective.warning)
    case 'unpinned':
      return ask('No operator has accepted the policy file of this workspace yet.')
    case 'pinned': {
      const first = judgeRequest(effective.pinned, request, limits)
      if (!first.autoApproved) {
        const now = judgeRequest(effective.policy, request, limits)
        return now.autoApproved
          ? ask('The policy file was changed, and no operator has accepted the change yet.')
          : first
      }
      return effective.change.change === 'same' ? first : judgeRequest(effective.policy, request, limits)
    }
  }
}

export type Reporting = Pick<WorkspacePolicy, 'logAutoApproved' | 'summaryIntervalSeconds'>

/** How auto-approved work is reported: as often, and in as much detail, as either text asks for. Null: nothing can be approved. */
export function reportingOf(effective: EffectivePolicy): Reporting | null {
  if (effective.state !== 'pinned') return null
  const both = [effective.pinned, effective.policy]
  const intervals = both.map(({ summaryIntervalSeconds }) => summaryIntervalSeconds).filter((seconds) => seconds > 0)
  return {
    logAutoApproved: both.some(({ logAutoApproved }) => logAutoApproved),
    summaryIntervalSeconds: intervals.length === 0 ? 0 : Math.min(...intervals),
  }
}

interface PolicyChange {
  change: 'same' | 'narrower' | 'wider'
  /** What the new policy allows that the pinned one does not, a sentence each. Empty unless it is wider. */
  added: string[]
  /** What it no longer allows. */
  removed: string[]
}

/** Only what surely allows less counts as narrower. In doubt the new text is wider, and an operator is asked. */
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
