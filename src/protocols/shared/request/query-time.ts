import { queryProblem } from './page.ts'

const ISO = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2}))?$/

/** A time in a query: ISO 8601 with an offset, or a date, which means its first moment in UTC. Throws `invalid_request`. */
export function timeIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name)
  if (text === null) return undefined
  const time = ISO.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(time)) throw queryProblem({ pointer: name, detail: 'Send a time like 2026-11-15T09:00:00Z.' })
  return time
}
