import type { AuditOptions } from 'quarterdeck/client'
import { momentsOf, readFilters } from '../../data/list-filters.ts'
import { given } from '../../given.ts'

const names = ['kind', 'by', 'session', 'since', 'until', 'at'] as const

/** `since` and `until` are days as `2026-11-16`. `at`: the number of an entry, which is unfolded; newer ones are left out. */
export type AuditFilters = Record<(typeof names)[number], string>

export const noFilters: AuditFilters = { kind: '', by: '', session: '', since: '', until: '', at: '' }

export function readAuditFilters(params: URLSearchParams): AuditFilters {
  const filters = readFilters(params, names)
  return { ...filters, at: /^[1-9]\d{0,14}$/.test(filters.at) ? filters.at : '' }
}

/** What the server is asked for. */
export const questionOf = ({ kind, by, session, at, ...days }: AuditFilters): AuditOptions => ({
  ...given({ kind, by, session, before: at && String(Number(at) + 1) }),
  ...momentsOf(days),
})
