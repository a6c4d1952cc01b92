// The filters of a list. They live in the address, so that a link shows the same list to somebody else. What is empty filters nothing.

import { given } from '../given.ts'

export function readFilters<Name extends string>(
  params: URLSearchParams,
  names: readonly Name[],
): Record<Name, string> {
  const filterOf = (name: Name): string => {
    const value = params.get(name)?.trim() ?? ''
    if (name === 'since' && isLastDays(value)) return value
    return (name === 'since' || name === 'until') && !isDay(value) ? '' : value
  }
  return Object.fromEntries(names.map((name) => [name, filterOf(name)])) as Record<Name, string>
}

const isDay = (text: string): boolean =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(`${text}T00:00:00`))

/** `7d`: the last seven days, and today is one of them. So a link goes on to mean the same. */
export const isLastDays = (since: string): boolean => /^[1-9]\d{0,2}d$/.test(since)

/** The day with which these days begin, where the reader is. */
export function firstDayOf(since: string, now = new Date()): string {
  if (!isLastDays(since)) return since
  const day = new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1 - Number.parseInt(since, 10), 12)
  return `${day.getFullYear()}-${`${day.getMonth() + 1}`.padStart(2, '0')}-${`${day.getDate()}`.padStart(2, '0')}`
}

/** The same words of an address with others in their place. What is empty is left out. */
export function withParams(params: URLSearchParams, changes: Readonly<Record<string, string | null>>): URLSearchParams {
  const next = new URLSearchParams(params)
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === '') next.delete(name)
    else next.set(name, value)
  }
  return next
}

/** A path with what stands behind its `?`, if there is something. */
export const withSearch = (path: string, search: URLSearchParams | string): string =>
  String(search) === '' ? path : `${path}?${search}`

export const writeFilters = (filters: object): URLSearchParams => new URLSearchParams(Object.entries(given(filters)))

export const countFilters = (filters: object): number => Object.keys(given(filters)).length

/** What the server is asked for. Both days belong to it, and a day begins and ends where the reader is. */
export const momentsOf = ({ since, until }: { since: string; until: string }) =>
  given({
    since: since && new Date(`${firstDayOf(since)}T00:00:00`).toISOString(),
    until: until && new Date(`${until}T23:59:59.999`).toISOString(),
  })
