// The filters of the list of sessions. They live in the address, so that a link shows the same list to somebody else.

export interface SessionFilters {
  q: string
  /** Null: everybody's. */
  owner: string | null
  agent: string | null
  status: string | null
  kind: string | null
  /** Days as `2026-11-16`, in the time of the reader. Both ends belong to it. */
  since: string | null
  until: string | null
}

export const noFilters: SessionFilters = {
  q: '',
  owner: null,
  agent: null,
  status: null,
  kind: null,
  since: null,
  until: null,
}

const names = ['owner', 'agent', 'status', 'kind', 'since', 'until'] as const
const DAY = /^\d{4}-\d{2}-\d{2}$/

export function readFilters(params: URLSearchParams): SessionFilters {
  const filters: SessionFilters = { ...noFilters, q: params.get('q') ?? '' }
  for (const name of names) {
    const value = params.get(name)
    if (value === null || value === '') continue
    if ((name === 'since' || name === 'until') && !isDay(value)) continue
    filters[name] = value
  }
  return filters
}

export function writeFilters(filters: SessionFilters): URLSearchParams {
  const params = new URLSearchParams()
  if (filters.q !== '') params.set('q', filters.q)
  for (const name of names) {
    const value = filters[name]
    if (value !== null && value !== '') params.set(name, value)
  }
  return params
}

/** How many filters are set, beside the words. */
export const countFilters = (filters: SessionFilters): number =>
  names.filter((name) => filters[name] !== null && filters[name] !== '').length

const isDay = (text: string): boolean => DAY.test(text) && !Number.isNaN(Date.parse(`${text}T00:00:00`))

/** What the server is asked for. A day begins and ends where the reader is. */
export function questionOf({ owner, agent, status, kind, since, until }: Omit<SessionFilters, 'q'>) {
  return {
    owner: owner ?? '*',
    ...(agent === null ? {} : { agent }),
    ...(status === null ? {} : { status }),
    ...(kind === null ? {} : { kind }),
    ...(since === null ? {} : { since: new Date(`${since}T00:00:00`).toISOString() }),
    ...(until === null ? {} : { until: new Date(`${until}T23:59:59.999`).toISOString() }),
  }
}
