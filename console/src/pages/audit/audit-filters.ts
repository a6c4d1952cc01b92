// The filters of the audit page. They live in the address, so that a link shows the same entries to somebody else.

import type { AuditOptions } from 'quarterdeck/client'

export interface AuditFilters {
  kind: string
  by: string
  session: string
  /** Days as `2026-11-16`, in the time of the reader. Both ends belong to it. */
  since: string
  until: string
  /** The number of an entry: it is unfolded, and newer ones are left out. */
  at: string
}

const names = ['kind', 'by', 'session', 'since', 'until', 'at'] as const

export const noFilters: AuditFilters = { kind: '', by: '', session: '', since: '', until: '', at: '' }

/** What is empty filters nothing. */
export const readFilters = (params: URLSearchParams): AuditFilters => {
  const value = (name: (typeof names)[number]) => params.get(name)?.trim() ?? ''
  const day = (name: 'since' | 'until') => (isDay(value(name)) ? value(name) : '')
  const seq = /^[1-9]\d{0,14}$/.test(value('at')) ? value('at') : ''
  const days = { since: day('since'), until: day('until') }
  return { kind: value('kind'), by: value('by'), session: value('session'), ...days, at: seq }
}

export function writeFilters(filters: AuditFilters): URLSearchParams {
  const params = new URLSearchParams()
  for (const name of names) if (filters[name] !== '') params.set(name, filters[name])
  return params
}

export const isFiltered = (filters: AuditFilters): boolean => names.some((name) => filters[name] !== '')

/** What the server is asked for. A day begins and ends where the reader is. */
export function questionOf({ kind, by, session, since, until, at }: AuditFilters): AuditOptions {
  return {
    ...(kind === '' ? {} : { kind }),
    ...(by === '' ? {} : { by }),
    ...(session === '' ? {} : { session }),
    ...(since === '' ? {} : { since: new Date(`${since}T00:00:00`).toISOString() }),
    ...(until === '' ? {} : { until: new Date(`${until}T23:59:59.999`).toISOString() }),
    ...(at === '' ? {} : { before: String(Number(at) + 1) }),
  }
}

const isDay = (text: string): boolean =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(`${text}T00:00:00`))
