// Says in plain words what each line of a policy file allows, and what it cannot allow.

import { splitCommandLine } from '../../domain/text/command-line.ts'
import { visibleText } from '../../domain/text/visible-text.ts'
import { commandMatches, isConfined, type PolicyLimits, splitPlainCommand } from './judge-request.ts'
import type { PlacedSetting } from './read-policy.ts'
import type { WorkspacePolicy } from './workspace-policy.ts'

export interface ExplainedLine {
  line: number
  /** `file_patterns.write[0]` */
  path: string
  means: string
  /** Why it allows less than it seems to, or what else to know; null if it does what it says. */
  note: string | null
}

/** `allowlist` null: the server's settings are not known, so nothing is said about them. */
type ExplainLimits = Omit<PolicyLimits, 'allowlist'> & { allowlist: PolicyLimits['allowlist'] | null }

/** In the order of the file. */
export function explainPolicy(
  policy: WorkspacePolicy,
  settings: readonly PlacedSetting[],
  limits: ExplainLimits,
): ExplainedLine[] {
  return settings.flatMap((setting) => {
    const { line, path } = setting
    const explained =
      setting.entry === null ? explainSetting(policy, setting) : explainEntry(setting.field, setting.entry, limits)
    return explained === null ? [] : [{ line, path, ...explained }]
  })
}

type Explained = Pick<ExplainedLine, 'means' | 'note'> | null

const nothing = (shown: string, why: string): Explained => ({
  means: `${shown} allows nothing.`,
  note: why.charAt(0).toUpperCase() + why.slice(1),
})

const plainly = (means: string, note: string | null = null): Explained => ({ means, note })

function explainSetting(policy: WorkspacePolicy, { field }: PlacedSetting): Explained {
  switch (field) {
    case 'enabled':
      return policy.enabled
        ? plainly('The policy is switched on.', 'It allows nothing until an operator accepts this file.')
        : plainly('The policy is switched off: every request needs an approval.')
    case 'risk_level_threshold':
      if (policy.riskLevelThreshold === 'low') return plainly('Only requests of low risk can pass without asking.')
      return plainly(
        'Requests of low and high risk can pass without asking.',
        policy.riskLevelThreshold === 'critical'
          ? 'A person always decides about critical risk, so this is the same as high.'
          : null,
      )
    case 'log_auto_approved':
      return plainly(
        `The summary ${policy.logAutoApproved ? 'names each request' : 'only counts the requests'} that passed.`,
      )
    case 'summary_interval_seconds':
      return plainly(
        policy.summaryIntervalSeconds === 0
          ? 'There is no summary of the requests that passed. They are in the audit trail.'
          : `A summary of the requests that passed comes ${policy.summaryIntervalSeconds} seconds after the first of them.`,
      )
    default:
      return listIsEmpty(policy, field) ? plainly('The list is empty, so it allows nothing.') : null
  }
}

function listIsEmpty({ commands, tools, filePatterns }: WorkspacePolicy, field: PlacedSetting['field']): boolean {
  if (field === 'commands') return commands.length === 0
  if (field === 'tools') return tools.length === 0
  return (field === 'file_patterns.write' ? filePatterns.write : filePatterns.read).length === 0
}

function explainEntry(field: PlacedSetting['field'], entry: string, limits: ExplainLimits): Explained {
  const shown = visibleText(entry)
  switch (field) {
    case 'commands':
      return explainCommand(entry, shown, limits.allowlist)
    case 'tools':
      if (/[*?]/.test(entry))
        return nothing(shown, 'names are compared exactly, and "*" and "?" are not wildcards here. List each tool.')
      return plainly(
        `Every call of the tool ${shown} passes, except one that runs a command or touches a protected path.`,
      )
    default:
      return explainPattern(entry, shown, field === 'file_patterns.write', limits)
  }
}

function explainCommand(entry: string, shown: string, allowlist: ExplainLimits['allowlist']): Explained {
  const means = `The command ${shown} passes.`
  const split = splitCommandLine(entry)
  if (!split.ok) return nothing(shown, `${split.problem}.`)
  // With letters in the place of wildcards, it is a command that the pattern should match.
  const sample = splitPlainCommand(entry.replaceAll(/[*?]+/g, 'x'))
  if ('problem' in sample) return nothing(shown, `${sample.problem}.`)
  if (allowlist === null) return plainly(means, 'Only if the same command is among the commands of quarterdeck.yaml.')
  const matching = allowlist.filter((argv) => commandMatches(entry, argv))
  if (matching.length === 0) {
    return nothing(shown, 'no command in quarterdeck.yaml (commands) is like this.')
  }
  if (!/[*?]/.test(entry)) return plainly(means)
  return plainly(`These commands pass: ${matching.map((argv) => visibleText(argv.join(' '))).join('; ')}`)
}

function explainPattern(entry: string, shown: string, writes: boolean, limits: ExplainLimits): Explained {
  const means = `${writes ? 'Writing' : 'Reading'} ${/[*?]/.test(entry) ? 'files like ' : ''}${shown} passes.`
  if (entry.startsWith('./')) return nothing(shown, 'paths begin without "./".')
  if (entry.endsWith('/')) return nothing(shown, `it names a folder. Write ${shown}** for the files in it.`)
  if (!isConfined(entry)) return nothing(shown, 'only plain paths inside the workspace count.')
  const reason = limits.protectedBecause(entry, writes ? 'write' : 'read')
  if (reason !== null) return nothing(shown, `it is protected. ${reason}`)
  if (/[[\]{}()|!+@]/.test(entry))
    return plainly(means, 'Only * ** and ? are wildcards. All other characters stand for themselves.')
  return plainly(means, /^\*+(\/\*+)?$/.test(entry) ? 'That is every file except the protected ones.' : null)
}
