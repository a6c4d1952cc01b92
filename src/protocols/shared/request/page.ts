import { type InputProblem, ServerError } from '../../../domain/errors.ts'
import type { Request } from '../../../http/route.ts'

export interface Page {
  limit: number
  before?: string
}

/** Decodes `?limit=&before=` of a list. Throws `invalid_request`. */
export function decodePage({ query }: Pick<Request, 'query'>, limits: { max: number; fallback: number }): Page {
  const [limit, before] = [query.get('limit'), query.get('before')]
  const page = { limit: limit === null ? limits.fallback : wholeNumber(limit, limits.max) }
  return before === null ? page : { ...page, before }
}

function wholeNumber(text: string, max: number): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : 0
  if (value < 1 || value > max) throw queryProblem({ pointer: 'limit', detail: `Send a number from 1 to ${max}.` })
  return value
}

export const queryProblem = (problem: InputProblem): ServerError =>
  new ServerError('invalid_request', `The query parameter ${problem.pointer} cannot be used. ${problem.detail}`, {
    problems: [problem],
  })

/** The Link header to the next page of a list. */
export function nextLink(path: string, query: URLSearchParams, next: string | null): Record<string, string> {
  if (next === null) return {}
  const parameters = new URLSearchParams(query)
  parameters.set('before', next)
  return { Link: `<${path}?${parameters}>; rel="next"` }
}
