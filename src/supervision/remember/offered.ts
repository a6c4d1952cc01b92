import type { Approval } from '../../domain/records/record.ts'
import type { RememberScope } from '../../domain/supervision/decision.ts'
import type { RecordView } from '../records/record-view.ts'
import { matchLabel } from './match-label.ts'

/** What every call of our own agents offers. Only an operator may decide for more than the session. */
const OWN_SCOPES: RememberScope[] = ['session', '15m', 'always']
export const ELSEWHERE_SCOPES: RememberScope[] = ['session', '15m', 'workspace']

/** What may be remembered with a decision about this approval. Null: nothing. */
export function offered(approval: Approval): RecordView['remember'] {
  const { kind, status, quorum = 1, risk, matches = [] } = approval
  if (status !== 'pending' || quorum > 1) return null
  // A no to something critical can be remembered, a yes cannot.
  const yes = risk !== 'critical'
  if (kind === 'tool_call') return { yes, scopes: OWN_SCOPES, matches: [] }
  if (!isHostWork(approval) || isEdited(approval) || matches.length === 0) return null
  return { yes, scopes: ELSEWHERE_SCOPES, matches: matches.map((match) => ({ label: matchLabel(match, risk), match })) }
}

/** A call or a change that an agent elsewhere asks for. */
export const isHostWork = ({ kind, supervised }: Approval): boolean =>
  supervised !== undefined && (kind === 'permission' || kind === 'diff')

/** What is offered belongs to the agent's own call. */
export const isEdited = ({ editedArguments, supervised }: Approval): boolean =>
  editedArguments !== null || supervised?.isEdited === true
