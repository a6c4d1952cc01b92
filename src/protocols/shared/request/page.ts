import { type InputProblem, ServerError } from '../../../domain/errors.ts'
import { parseUuid, ulidOf } from '../../../domain/ids.ts'
import type { Request, ResponseDescription } from '../../../http/route.ts'

export interface Page {
  limit: number
  before?: string | undefined
}

/** Decodes `?limit=&before=` of a list. Throws `invalid_request`. */
export function decodePage({ query }: Pick<Request, 'query'>, limits: { max: number; fallback: number }): Page {
  const [limit, before] = [query.get('limit'), query.get('before')]
  return { limit: limit === null ? limits.fallback : wholeNumber(limit, limits.max), before: before ?? undefined }
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

/** A time of a query in epoch ms; undefined: it is left out. Throws `invalid_request`. */
export function timeIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name)
  if (text === null) return undefined
  const isTime = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/.test(text)
  const time = isTime ? Date.parse(text) : Number.NaN
  if (Number.isFinite(time)) return time
  throw queryProblem({ pointer: name, detail: 'Send a time such as 2026-11-15T09:00:00Z, or a date.' })
}

/** One of a few words in a query; undefined: it is left out. Throws `invalid_request`. */
export function wordIn<T extends string>(
  query: URLSearchParams,
  name: string,
  words: readonly T[],
  detail = `Send ${words.slice(0, -1).join(', ')} or ${words.at(-1)}.`,
): T | undefined {
  const text = query.get(name)
  if (text === null) return undefined
  const found = words.find((word) => word === text)
  if (found !== undefined) return found
  throw queryProblem({ pointer: name, detail })
}

/** The id of a session in a query; undefined: it is left out. Throws `invalid_request` with this detail. */
export function sessionIn(query: URLSearchParams, detail: string): string | undefined {
  const text = query.get('session')
  const id = text === null ? undefined : parseUuid(text)
  if (id !== null) return id
  throw queryProblem({ pointer: 'session', detail })
}

/** A short text in a query; undefined: it is left out. Throws `invalid_request`. */
export function textIn(query: URLSearchParams, name: string, most: number): string | undefined {
  const text = query.get(name)
  if (text === null || (text !== '' && text.length <= most)) return text ?? undefined
  throw queryProblem({ pointer: name, detail: `Send 1 to ${most} characters.` })
}

/** The name of an agent in a query; undefined: it is left out. Throws `invalid_request`. */
export function agentIn(query: URLSearchParams): string | undefined {
  const agent = query.get('agent')
  if (agent === null || (agent !== '' && agent.length <= 128)) return agent ?? undefined
  throw queryProblem({ pointer: 'agent', detail: 'Send the name of an agent.' })
}

/** The owner whose sessions are asked for, `*` for all; null: the caller's own. Throws `invalid_request`. */
export function ownerIn(query: URLSearchParams): string | null {
  const owner = query.get('owner')
  if (owner === null || (owner !== '' && owner.length <= 200 && !query.has('user_id'))) return owner
  throw queryProblem({ pointer: 'owner', detail: 'Send a name or *, without user_id.' })
}

/** For the description of a list: what its Link header leads to. */
export const linked = (
  response: ResponseDescription,
  link = 'The next page, as `rel="next"`; absent on the last one.',
): ResponseDescription => ({ ...response, headers: { Link: link } })

export const older = (what: string): string => `Older ${what}, as \`rel="next"\`; absent when there are none.`

/** The Link header to the next page of a list. `name` is the parameter that says where a page begins. */
export function nextLink(
  path: string,
  query: URLSearchParams,
  next: string | null,
  name = 'before',
): Record<string, string> {
  if (next === null) return {}
  const parameters = new URLSearchParams(query)
  parameters.set(name, next)
  return { Link: `<${path}?${parameters}>; rel="next"` }
}

/** A place in a list that is ordered by time and id. It holds also when the item that was there is gone. */
export interface ListPlace {
  createdAt: number
  id: string
}

export const printPlace = ({ createdAt, id }: ListPlace): string => `${createdAt}.${ulidOf(id)}`

/** Null: the text is not a place. */
export function placeIn(text: string): ListPlace | null {
  const [, time, name = ''] = /^(\d{1,15})\.(.+)$/.exec(text) ?? []
  const id = parseUuid(name)
  return id === null ? null : { createdAt: Number(time), id }
}

/** Throws `invalid_request`. */
export function parsePlace(text: string): ListPlace {
  return placeIn(text) ?? refusePlace()
}

export function refusePlace(): never {
  throw queryProblem({ pointer: 'before', detail: 'Send what came in the Link header of the page before.' })
}
