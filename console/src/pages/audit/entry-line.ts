import type { AuditEntry } from 'quarterdeck/client'

const shown = ['decision', 'what', 'status', 'name', 'reason', 'rule', 'device', 'label', 'user'] as const

/** The facts of an entry in a line: what it was about, and how it ended. */
export function entryLine({ agent, tool, details }: AuditEntry): string {
  const about = tool !== '' && agent !== '' ? `${agent} → ${tool}` : agent + tool
  const facts = shown.flatMap((name) => {
    const value = details[name]
    return typeof value === 'string' && value !== '' ? [value] : []
  })
  return [about, ...facts].filter((part) => part !== '').join(' · ')
}

export interface DetailRow {
  name: string
  text: string
}

/** The facts of an entry, one by one. */
export const detailRows = (details: Record<string, unknown>): DetailRow[] =>
  Object.entries(details).map(([name, value]) => ({
    name,
    text: typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? ''),
  }))

/** The approval that an entry is about, if it names one. */
export function approvalOf({ details }: AuditEntry): string | null {
  const { approval } = details
  return typeof approval === 'string' && approval !== '' ? approval : null
}
