import { type InputProblem, ServerError } from '../../../domain/errors.ts'
import type { Request } from '../../../http/route.ts'

export interface Page {
  limit: number
  before?: string
}

/** `?limit=&before=` of a list. Throws `invalid_request`. */
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
