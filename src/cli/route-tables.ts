// The tables of docs/look-up/http.md: one for each tag of the OpenAPI document.

import { fillPage, markdownTable } from '../config/generate.ts'
import { isRecord } from '../domain/is-record.ts'
import type { Route } from '../http/route.ts'

type Node = Record<string, unknown>

/** What many routes can answer for the same reasons. The page says them once. */
const SHARED_STATUSES = new Set([400, 401, 403, 404, 408, 413, 415, 421, 429, 431, 500, 503, 507])
/** A body with more keys than this is told by those that it needs. */
const MAX_KEYS = 9

/** The page with new tables: the block `Tokens` lists the routes with this tag. `document` is the OpenAPI document of the same server. */
export function fillRoutes(page: string, routes: readonly Route[], document: unknown): string {
  const at = (node: unknown, ...keys: readonly string[]): unknown =>
    keys.reduce<unknown>((inner, key) => (isRecord(resolved(inner)) ? (resolved(inner) as Node)[key] : undefined), node)
  const resolved = (node: unknown): unknown => {
    const reference = isRecord(node) ? node.$ref : undefined
    return typeof reference === 'string' ? at(document, ...reference.slice(2).split('/')) : node
  }

  function sent(operation: unknown): string {
    const body = at(operation, 'requestBody', 'content', 'application/json', 'schema')
    const isForm = at(operation, 'requestBody', 'content', 'multipart/form-data') !== undefined
    const query = listOf(at(operation, 'parameters'))
      .map(resolved)
      .filter((one) => at(one, 'in') === 'query')
      .map((one) => String(at(one, 'name')))
    const name = /\/(RunAgentInput|JsonRpcMessage)"/.exec(JSON.stringify(body) ?? '')?.[1]
    return [
      name === undefined ? keysOf(body) : code(name),
      isForm ? 'a form' : '',
      query.length === 0 ? '' : code(`?${query.join('&')}`),
    ]
      .filter((part) => part !== '')
      .join(', ')
  }

  function keysOf(schema: unknown): string {
    const shapes = shapesOf(schema)
    const keys = [...new Set(shapes.flatMap((shape) => Object.keys(asNode(shape.properties))))]
    const isNeeded = (key: string) => shapes.every((shape) => listOf(shape.required).includes(key))
    const shown = keys.length > MAX_KEYS ? keys.filter(isNeeded) : keys
    const words = shown.map((key) => code(isNeeded(key) ? key : `${key}?`))
    return [...words, ...(shown.length < keys.length ? ['…'] : [])].join(', ')
  }

  function shapesOf(schema: unknown): Node[] {
    const node = asNode(resolved(schema))
    const options = [...listOf(node.anyOf), ...listOf(node.oneOf)]
    return options.length > 0 ? options.flatMap(shapesOf) : isRecord(node.properties) ? [node] : []
  }

  function rowOf(path: string, route: Route, tag: string): string[] {
    const operation = at(document, 'paths', path, route.method.toLowerCase())
    const responses = asNode(at(operation, 'responses'))
    const statuses = Object.keys(responses)
    const isStream = statuses.some((status) => at(responses[status], 'content', 'text/event-stream') !== undefined)
    const successes = statuses.filter((status) => Number(status) < 400)
    const isPlain = successes.length === 1 && successes[0] === '200'
    const errors = statuses.filter((status) => Number(status) >= 400 && !SHARED_STATUSES.has(Number(status)))
    const role = path === '/metrics' ? 'user, operator' : route.role
    const doors = path === '/chat' ? ['rest', 'threads'] : route.door === null ? [] : [route.door]
    return [
      code(`${route.method} ${path}`),
      role,
      doors.map(code).join(', ') || '–',
      shortSummary(String(at(operation, 'summary')), tag),
      sent(operation),
      [...(isStream ? ['stream'] : []), ...(isPlain ? [] : successes), ...errors].join(' '),
    ]
  }

  return fillPage(page, (tag) => {
    const rows = routes.flatMap((route) => {
      const path = route.path.replaceAll(/[:*](\w+)/g, '{$1}')
      const tags = listOf(at(document, 'paths', path, route.method.toLowerCase(), 'tags'))
      return tags.includes(tag) ? [rowOf(path, route, tag)] : []
    })
    if (rows.length === 0) throw new Error(`docs/look-up/http.md asks for the routes of ${tag}, and there are none.`)
    const head = ['route', 'role', 'door', 'what it does', 'takes', 'answers']
    // A column that says nothing is left out.
    const isSaid = (_: string, column: number): boolean => rows.some((row) => !['', '–'].includes(row[column] ?? ''))
    return markdownTable(
      head.filter(isSaid),
      rows.map((row) => row.filter(isSaid)),
    )
  })
}

/** Its first sentence, without the name of its group. */
const shortSummary = (summary: string, tag: string): string => {
  const [first = ''] = summary.replace(`${tag}: `, '').split(/\.(?: |$)/)
  return first.charAt(0).toUpperCase() + first.slice(1)
}

const asNode = (value: unknown): Node => (isRecord(value) ? value : {})

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

const code = (text: string): string => `\`${text}\``
