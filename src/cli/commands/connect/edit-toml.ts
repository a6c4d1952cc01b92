// Sets or removes one table of a TOML file and leaves every other line as it is. We look only at headers of tables; a parser then
// checks that nothing else has changed. A file that is written in another way is refused, not guessed at.

import { isDeepStrictEqual } from 'node:util'
import { parse, stringify, type TomlTable } from 'smol-toml'
import { type CliError, cannotCreate } from '../../cli-error.ts'

/** `path` names the table, such as `mcp_servers.quarterdeck`. `value` null: remove it. Throws `CliError`. */
export function editToml(
  text: string | null,
  name: string,
  path: readonly string[],
  value: Readonly<Record<string, unknown>> | null,
): string {
  const [outer = '', inner = ''] = path
  const before = text ?? ''
  const rest = withoutTable(before, path)
  const block = value === null ? '' : stringify({ [outer]: { [inner]: value } }).replace(/^\[[^.\]]+\]\n/, '')
  const glue = rest === '' || block === '' ? '' : rest.endsWith('\n') ? '\n' : '\n\n'
  const after = `${rest}${glue}${block}${block === '' || block.endsWith('\n') ? '' : '\n'}`
  if (!isDeepStrictEqual(split(after, name, path), { ...split(before, name, path), own: value ?? undefined })) {
    throw refused(name, `it has ${path.join('.')} in a form that cannot be changed`)
  }
  return after
}

function readToml(text: string, name: string): TomlTable {
  try {
    return parse(text)
  } catch (error) {
    const [why = ''] = error instanceof Error ? error.message.split('\n') : []
    throw refused(name, why)
  }
}

/** The table itself, and everything else. */
function split(text: string, name: string, [outer = '', inner = '']: readonly string[]) {
  const { [outer]: tables, ...others } = readToml(text, name)
  const { [inner]: own, ...siblings } = Object(tables) as TomlTable
  // The parser makes objects without a prototype, which would not equal ordinary ones.
  return structuredClone({ own: own as TomlTable | undefined, siblings, others })
}

function withoutTable(text: string, path: readonly string[]): string {
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? []
  const kept: string[] = []
  let skipping = false
  /** Comments and empty lines before a header belong to the table that follows. */
  let held: string[] = []
  let string: string | null = null
  for (const line of lines) {
    const header: readonly string[] | null = string === null ? headerOf(line) : null
    if (header !== null) {
      const isOurs = header[0] === path[0] && header[1] === path[1]
      // The empty line that we put before our table goes with it.
      if (isOurs && !skipping && kept.at(-1)?.trim() === '') kept.pop()
      if (skipping && !isOurs) kept.push(...held)
      skipping = isOurs
    }
    string = stringAfter(line, string)
    if (!skipping) kept.push(line)
    else held = header === null && string === null && /^(#.*)?$/.test(line.trim()) ? [...held, line] : []
  }
  // Comments after our table, at the end of the file, were not ours.
  if (skipping) kept.push(...held.slice(held.findIndex((line) => line.trim() !== '') < 0 ? held.length : 0))
  return kept.join('')
}

const KEY = /\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([\w-]+))\s*/y

/** The key of a `[table]` or `[[list]]` line, or null. */
function headerOf(line: string): string[] | null {
  const [, inside] = /^\s*\[\[?(.+?)\]\]?\s*(?:#.*)?$/.exec(line.trimEnd()) ?? []
  if (inside === undefined) return null
  const keys: string[] = []
  KEY.lastIndex = 0
  for (;;) {
    const match = KEY.exec(inside)
    if (match === null) return null
    keys.push(match[1] ?? match[2] ?? match[3] ?? '')
    if (KEY.lastIndex >= inside.length) return keys
    if (inside[KEY.lastIndex] !== '.') return null
    KEY.lastIndex += 1
  }
}

/** The quotes of the string over several lines that is still open after this line, or null. */
function stringAfter(line: string, open: string | null): string | null {
  let string = open
  let at = 0
  while (at < line.length) {
    if (string !== null) {
      const end = line.indexOf(string, at)
      if (end < 0) return string
      at = end + string.length
      string = null
      continue
    }
    const [token] = /"""|'''|"(?:[^"\\]|\\.)*"|'[^']*'|#.*/.exec(line.slice(at)) ?? []
    if (token === undefined || token.startsWith('#')) return null
    at = line.indexOf(token, at) + token.length
    if (token === '"""' || token === "'''") string = token
  }
  return string
}

const refused = (name: string, why: string): CliError =>
  cannotCreate(`${name} cannot be changed: ${why}.`, [
    'Nothing was changed. Fix the file, or do it by hand: quarterdeck connect print',
  ])
