// What approvals are bound to of a tool's settings: the file as it is written, with names in the place of secrets. So a changed
// request voids an approval and a new key does not.

import type { McpServerSettings } from '../../domain/tool-settings.ts'
import type { Path } from '../source/json-schema-node.ts'
import type { LoadContext } from '../source/load-context.ts'
import { type Part, WrittenText } from '../source/substitute.ts'

/** Of an `http` tool: its request, or where the operations of its document are. */
export function boundRequest(at: Path, { written }: LoadContext): unknown {
  const tool = written(at)
  return {
    url: byPlace(valueAt(tool, 'url')),
    base_url: byPlace(valueAt(tool, 'base_url')),
    headers: boundHeaders(valueAt(tool, 'headers')),
    body: byName(valueAt(tool, 'body')),
  }
}

/** Of an MCP server: how it is started or reached. Of its environment the names alone. */
export function boundConnection(at: Path, connection: McpServerSettings['connection'], { written }: LoadContext) {
  const tool = written(at)
  if (connection.kind === 'http') {
    return { url: byPlace(valueAt(tool, 'url')), headers: boundHeaders(valueAt(tool, 'headers')) }
  }
  const { command, directory, env } = connection
  const variables = Object.keys(env).map((name) => [name, variablesIn(valueAt(valueAt(tool, 'env'), name))])
  return { command, directory, args: byPlace(valueAt(tool, 'args')), env: Object.fromEntries(variables) }
}

/** Where a request goes and what a program is told: a variable's value counts, unless its name says that it is a secret. */
const byPlace = (value: unknown): unknown =>
  mapped(value, ({ parts }) => {
    const shown = parts.map((part) => (typeof part === 'string' || isSecretName(part.variable) ? part : part.value))
    return shown.every((part) => typeof part === 'string') ? shown.join('') : joined(shown)
  })

/** What is sent: the name of a variable counts. */
const byName = (value: unknown): unknown => mapped(value, ({ parts }) => joined(parts))

function boundHeaders(headers: unknown): unknown {
  if (typeof headers !== 'object' || headers === null) return byName(headers)
  // A key that stands in the file itself is a key all the same. The arguments in it are not.
  const entries = Object.entries(headers).map(([name, value]) => [
    name.toLowerCase(),
    typeof value === 'string' && isSecretHeader(name) ? value.match(/\{[\w.-]+\}/g) : byName(value),
  ])
  return Object.fromEntries(entries)
}

type Shown = string | { variable: string }

/** Neighbouring texts as one; of a variable its name. */
function joined(parts: readonly Part[]): { text: Shown[] } {
  const shown: Shown[] = []
  for (const part of parts) {
    const last = shown.at(-1)
    if (typeof part !== 'string') shown.push({ variable: part.variable })
    else if (typeof last === 'string') shown[shown.length - 1] = last + part
    else shown.push(part)
  }
  return { text: shown.filter((part) => part !== '') }
}

const variablesIn = (value: unknown): string[] =>
  value instanceof WrittenText ? value.parts.flatMap((part) => (typeof part === 'string' ? [] : [part.variable])) : []

/** Each shape is marked, so that nothing in a file can be written to look like a variable. */
function mapped(value: unknown, show: (text: WrittenText) => unknown): unknown {
  if (value instanceof WrittenText) return show(value)
  if (Array.isArray(value)) return { list: value.map((one) => mapped(one, show)) }
  if (typeof value !== 'object' || value === null) return value
  return { object: Object.fromEntries(Object.entries(value).map(([key, one]) => [key, mapped(one, show)])) }
}

const SECRET =
  /(?:^|[_-]|api)(?:key|token|secret|pass|password|passwd|passphrase|pwd|pat|credential|auth)s?(?:[_-]|\d|$)/i

/** AUTH_URL and X-Auth-Role name a place and a right, and another one of those is another call. */
const NO_SECRET =
  /[_-](?:url|uri|host|hostname|port|server|endpoint|domain|path|dir|file|folder|id|name|user|username|role|scope|scopes|type|mode|realm|issuer|audience|tenant|region)$/i

export const isSecretName = (name: string): boolean => SECRET.test(name) && !NO_SECRET.test(name)

const isSecretHeader = (name: string): boolean =>
  isSecretName(name) || /^(?:proxy-)?authorization$|^cookie$/i.test(name)

const valueAt = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? Object(value)[key] : undefined
