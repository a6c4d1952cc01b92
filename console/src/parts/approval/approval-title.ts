import type { Approval } from 'quarterdeck/client'

const verbs = { create: 'Create', modify: 'Change', delete: 'Delete' } as const

type Titled = Pick<Approval, 'kind' | 'change' | 'title' | 'tool'>

/** What is asked, in the server's words. The title of a change is the agent's, so its file takes its place. */
export function approvalTitle({ kind, change, title, tool }: Titled): string {
  if (change !== null) return `${verbs[change.kind]} ${change.file_path}`
  if (kind === 'question') return `${tool} asks`
  return kind === 'tool_call' ? tool : title
}

/** What comes behind the title in a list: the arguments of a call in short, or the question of a tool. */
export function approvalGist({ kind, description, change }: Titled & Pick<Approval, 'description'>): string {
  if (change !== null) return `+${change.added_lines} −${change.removed_lines}`
  if (kind !== 'tool_call' && kind !== 'question') return ''
  return description.slice(0, LONGEST_GIST).replaceAll('\n', '  ')
}

const LONGEST_GIST = 200
