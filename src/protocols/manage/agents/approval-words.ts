import type { ApprovalRule, ApprovalSettings } from '../../../domain/agent/approval-rule.ts'
import { isAtLeast, type Risk } from '../../../domain/agent/tool-settings.ts'
import { unreachable } from '../../../domain/unreachable.ts'

type Asks = 'never' | 'always' | 'sometimes' | 'policy'

const WORDS: Readonly<Record<Asks, string>> = {
  never: 'Runs without asking.',
  always: 'A person is asked each time.',
  sometimes: 'A person is asked, depending on the arguments.',
  policy: 'The policy of the agent decides.',
}

/** When a person is asked about a tool, in a sentence. `asksItself`: the tool's own code may ask too. */
export function approvalWords(
  { approval, risk, asksItself }: { approval: ApprovalRule | null; risk: Risk; asksItself: boolean },
  settings: Pick<ApprovalSettings, 'default'>,
): string {
  const asks = asksWhen(approval ?? settings.default, approval === null ? null : settings.default, risk)
  return asks === 'never' && asksItself ? 'The tool itself says when a person is asked.' : WORDS[asks]
}

/** `beside`: the agent's rule, if the rule is the tool's own. */
function asksWhen(rule: ApprovalRule, beside: ApprovalRule | null, risk: Risk): Asks {
  switch (rule.ask) {
    case 'never':
    case 'always':
    case 'policy':
      return rule.ask
    case 'risk':
      return isAtLeast(risk, rule.atLeast) ? 'always' : 'never'
    case 'when': {
      if (rule.otherwise === 'run') return 'sometimes'
      const others = asksWhen(beside ?? { ask: 'risk', atLeast: 'high' }, null, risk)
      return others === 'never' ? 'sometimes' : others
    }
    default:
      return unreachable(rule)
  }
}
