import { countFilters, momentsOf, readFilters } from '../../data/list-filters.ts'
import { given } from '../../given.ts'

const names = ['owner', 'agent', 'status', 'kind', 'since', 'until'] as const

/** `q` are the words that are searched for. `since` and `until` are days as `2026-11-16`. */
export type SessionFilters = Record<'q' | (typeof names)[number], string>

export const noFilters: SessionFilters = { q: '', owner: '', agent: '', status: '', kind: '', since: '', until: '' }

/** The words stay as they are typed. */
export const readSessionFilters = (params: URLSearchParams): SessionFilters => ({
  q: params.get('q') ?? '',
  ...readFilters(params, names),
})

/** How many filters are set, beside the words. */
export const countSessionFilters = (filters: SessionFilters): number => countFilters({ ...filters, q: '' })

/** What the server is asked for. Without an owner: everybody's. */
export const questionOf = ({ owner, agent, status, kind, since, until }: Omit<SessionFilters, 'q'>) => ({
  owner: owner || '*',
  ...given({ agent, status, kind }),
  ...momentsOf({ since, until }),
})
