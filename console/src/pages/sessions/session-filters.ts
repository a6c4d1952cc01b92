import { countFilters, momentsOf, readFilters } from '../../data/list-filters.ts'
import { given } from '../../given.ts'

const names = ['owner', 'agent', 'status', 'kind', 'feedback', 'since', 'until', 'sort'] as const

/** `q` are the words that are searched for, `sort` is the order. `since` and `until` are days as `2026-11-16`. */
export type SessionFilters = Record<'q' | (typeof names)[number], string>

/** The words stay as they are typed. */
export const readSessionFilters = (params: URLSearchParams): SessionFilters => ({
  q: params.get('q') ?? '',
  ...readFilters(params, names),
  // What everybody calls it.
  status: (params.get('status') ?? params.get('state') ?? '').trim(),
})

export const noFilters = readSessionFilters(new URLSearchParams())

/** How many filters are set, beside the words and the order. */
export const countSessionFilters = (filters: SessionFilters): number => countFilters({ ...filters, q: '', sort: '' })

/** What the server is asked for. Without an owner: everybody's. */
export const questionOf = ({ q: _q, owner, since, until, ...others }: SessionFilters) => ({
  owner: owner || '*',
  ...given(others),
  ...momentsOf({ since, until }),
})
