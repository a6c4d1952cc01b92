import type { AuditOptions } from 'quarterdeck/client'
import { momentsOf, readFilters } from '../../data/list-filters.ts'
import { given } from '../../given.ts'
import { DECISIONS, EVERYTHING } from './audit-kinds.ts'

const names = ['kind', 'by', 'session', 'since', 'until', 'at'] as const

/** `since` and `until` are days as `2026-11-16`. `at`: the number of an entry, which is unfolded; newer ones are left out. */
export type AuditFilters = Record<(typeof names)[number], string>

export const noFilters: AuditFilters = { kind: '', by: '', session: '', since: '', until: '', at: '' }

export function readAuditFilters(params: URLSearchParams): AuditFilters {
  const filters = readFilters(params, names)
  return { ...filters, at: /^[1-9]\d{0,14}$/.test(filters.at) ? filters.at : '' }
}

/** Without a kind: what people decided, or everything about the one thing that an address names. */
export const isDecisions = ({ kind, session, at }: AuditFilters): boolean => kind === '' && session === '' && at === ''

/** What the server is asked for. */
export function questionOf(filters: AuditFilters): AuditOptions {
  const { kind, by, session, at, ...days } = filters
  const kinds = isDecisions(filters) ? DECISIONS : kind === EVERYTHING ? '' : kind
  return { ...given({ kind: kinds, by, session, before: at && String(Number(at) + 1) }), ...momentsOf(days) }
}
