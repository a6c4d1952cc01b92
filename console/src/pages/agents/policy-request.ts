import type { TriedPolicy } from 'quarterdeck/client'

export interface PolicyForm {
  place: 'workspace' | 'session'
  workspace: string
  session: string
  tool: string
  path: string
  command: string
  risk: 'low' | 'high' | 'critical'
}

/** What the server is asked. Null: something is missing. A command keeps its spaces: a policy may look at them. */
export function policyRequest({
  place,
  workspace,
  session,
  tool,
  path,
  command,
  risk,
}: PolicyForm): TriedPolicy | null {
  const where = (place === 'workspace' ? workspace : session).trim()
  if (where === '' || tool.trim() === '') return null
  return {
    ...(place === 'workspace' ? { workspace: where } : { session_id: where }),
    tool_name: tool.trim(),
    ...(path.trim() === '' ? {} : { file_path: path.trim() }),
    ...(command.trim() === '' ? {} : { command }),
    risk_level: risk,
  }
}
