// The part of a tool's settings that an approval is bound to: the file as it is written, with the names of secrets instead of
// their values. So changing the request voids an approval, but changing a key does not.

import type { McpServerSettings } from '../../domain/agent/tool-settings.ts'
import { type Path, valueAt } from '../source/json-schema-node.ts'
import type { LoadContext } from '../source/load-context.ts'
import { type Part, WrittenText } from '../source/substitute.ts'

/** For an `http` tool: its request, or the address of its operations. */
export function boundRequest(at: Path, { written }: LoadContext): unknown {
  const tool = written(at)
  return {
    url: byPlace(valueAt(tool, ['url'])),
    base_url: byPlace(valueAt(tool, ['base_url'])),
    headers: boundHeaders(valueAt(tool, ['headers'])),
    body: byName(valueAt(tool, ['body'])),
  }
}

/** For an MCP server: how it is started or reached, with only the names of its environment variables. */
export function boundConnection(at: Path, connection: McpServerSettings['connection'], { written }: LoadContext) {
  const tool = written(at)
  if (connection.kind === 'http') {
    return { url: byPlace(valueAt(tool, ['url'])), headers: boundHeaders(valueAt(tool, ['headers'])) }
  }
  const { command, directory, env } = connection
  const variables = Object.keys(env).map((name) => {
    const value = valueAt(tool, ['env', name])
    return [name, value instanceof WrittenText ? value.variables() : []]
  })
  return { command, directory, args: byPlace(valueAt(tool, ['args'])), env: Object.fromEntries(variables) }
}

/** For addresses and program arguments: the value of a variable counts, unless its name says that it is a secret. */
const byPlace = (value: unknown): unknown =>
  mapped(value, ({ parts }) => {
    const shown = parts.map((part) => (typeof part === 'string' || isSecretName(part.variable) ? part : part.value))
    return shown.every((part) => typeof part === 'string') ? shown.join('') : joined(shown)
  })

/** For headers and bodies: the name of a variable counts. */
const byName = (value: unknown): unknown => mapped(value, ({ parts }) => joined(parts))

function boundHeaders(headers: unknown): unknown {
  if (typeof headers !== 'object' || headers === null) return byName(headers)
  // A key written in the file itself is a secret too, so only the arguments in it count.
  const entries = Object.entries(headers).map(([name, value]) => [
    name.toLowerCase(),
    typeof value === 'string' && isSecretHeader(name) ? value.match(/\{[\w.-]+\}/g) : byName(value),
  ])
  return Object.fromEntries(entries)
}

type Shown = string | { variable: string }

/** Joins neighbouring texts and keeps only the names of variables. */
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

/** Marks lists and objects, so that nothing in a file can look like a variable. */
function mapped(value: unknown, show: (text: WrittenText) => unknown): unknown {
  if (value instanceof WrittenText) return show(value)
  if (Array.isArray(value)) return { list: value.map((one) => mapped(one, show)) }
  if (typeof value !== 'object' || value === null) return value
  return { object: Object.fromEntries(Object.entries(value).map(([key, one]) => [key, mapped(one, show)])) }
}

const SECRET =
  /(?:^|[_-]|api)(?:key|token|secret|pass|password|passwd|passphrase|pwd|pat|credential|auth)s?(?:[_-]|\d|$)/i

/** AUTH_URL and X-Auth-Role are not secrets: they name a place and a right, and changing one changes the call. */
const NO_SECRET =
  /[_-](?:url|uri|host|hostname|port|server|endpoint|domain|path|dir|file|folder|id|name|user|username|role|scope|scopes|type|mode|realm|issuer|audience|tenant|region)$/i

export const isSecretName = (name: string): boolean => SECRET.test(name) && !NO_SECRET.test(name)

const isSecretHeader = (name: string): boolean =>
  isSecretName(name) || /^(?:proxy-)?authorization$|^cookie$/i.test(name)
