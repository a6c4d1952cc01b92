// Puts what is ours into a config file of a host, and takes it out again. Text to text: nothing is written here.

import { isDeepStrictEqual } from 'node:util'
import { parse, stringify, type TomlTable } from 'smol-toml'
import { type ConfigFile, HOOK_LIMIT_SECONDS, type HostSetup } from '../../../hosts/host.ts'
import { type HostName, hostNames } from '../../../hosts/hosts.ts'
import { type CliError, cannotCreate } from '../../cli-error.ts'
import { shellQuoted } from '../../program-name.ts'
import { editJson, type JsonEditor, trimJson } from './edit-json.ts'

/** What the file has of ours, for people. */
export const ourPart = ({ server, hooks }: ConfigFile): string =>
  [...(server === null ? [] : ['MCP server']), ...(hooks === null ? [] : ['hooks'])].join(' and ')

/** The new text. `text` is null if there is no file. Throws `CliError` if the file cannot be understood. */
export function withOurs(file: ConfigFile, text: string | null, setup: HostSetup): string {
  const { path, server, hooks } = file
  if (file.format === 'toml') return editToml(text, path, file.server.keys(setup.workspace), file.server.entry(setup))
  return editJson(text, path, (json) => {
    if (server !== null) json.set(server.keys(setup.workspace), server.entry(setup))
    if (hooks !== null) setHooks(json, hooks(setup))
  })
}

/** The text without what is ours. `isLast`: no other folder is connected. Null: nothing is left, and the file can go. */
export function withoutOurs(
  file: ConfigFile,
  text: string,
  { workspace, isLast }: { workspace: string | null; isLast: boolean },
): string | null {
  const { path, server, hooks } = file
  // One server for all folders stays as long as one of them is connected, and so do the hooks.
  if (!isLast && server?.isOfFolder !== true) return text
  if (file.format === 'toml') return editToml(text, path, file.server.keys(workspace), null) || null
  return trimJson(text, path, (json) => {
    if (hooks !== null && isLast) dropHooks(json)
    if (server !== null) json.remove([...server.keys(workspace)])
  })
}

/** Whether our hooks in this file are for agents in all folders. */
export const isForAll = ({ path, hooks }: ConfigFile, text: string | null): boolean =>
  hooks !== null && text !== null && hasHooksForAll(text, path)

// Our entries among the hooks in a host's JSON config: `{hooks: {Event: [{matcher?, hooks: [{command}]}]}}`, or in Copilot CLI
// `{hooks: {Event: [{bash}]}}`. Other people's hooks stay as they are.
const OURS = new RegExp(`quarterdeck(?:\\.js)?["']? hook (${hostNames.join('|')}) `)

/** Adds an entry for each event, in place of all that are ours. */
function setHooks(json: JsonEditor, entries: Readonly<Record<string, unknown>>): void {
  dropHooks(json)
  for (const [event, entry] of Object.entries(entries)) json.append(['hooks', event], entry)
}

function dropHooks(json: JsonEditor): void {
  const hooks = json.get(['hooks'])
  for (const event of Object.keys(Object(hooks))) {
    const groups = json.get(['hooks', event])
    if (!Array.isArray(groups)) continue
    for (let at = groups.length - 1; at >= 0; at--) {
      const commands = commandsOf(groups[at])
      if (commands.length > 0 && commands.every(isOurs)) json.remove(['hooks', event, at])
    }
  }
}

/** Whether our entries are for all folders: they do not name the file with the connected folders. */
function hasHooksForAll(text: string, name: string): boolean {
  let found = false
  editJson(text, name, (json) => {
    const groups = Object.values(Object(json.get(['hooks']))).flat()
    found = groups.flatMap(commandsOf).some((command) => isOurs(command) && !command.includes(' --folders '))
  })
  return found
}

const isOurs = (command: string): boolean => OURS.test(command)

function commandsOf(group: unknown): string[] {
  if (typeof group !== 'object' || group === null) return []
  const handlers: unknown[] = 'hooks' in group && Array.isArray(group.hooks) ? group.hooks : [group]
  return handlers.flatMap((handler) => {
    const { command, bash } = Object(handler) as { command?: unknown; bash?: unknown }
    return [command, bash].filter((one) => typeof one === 'string')
  })
}

// Sets or removes one table of a TOML file and leaves every other line as it is. We look only at headers of tables; a parser then
// checks that nothing else has changed. A file that is written in another way is refused, not guessed at.

/** `path` names the table, such as `mcp_servers.quarterdeck`. `value` null: remove it. Throws `CliError`. */
function editToml(
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

/** How to start this program, with absolute paths: an agent could put another `quarterdeck` into its PATH. */
export interface OwnProgram {
  node: string
  launcher: string
  /** Variables that it needs to find its config folder. */
  env: Readonly<Record<string, string>>
}

/**
 * The shell line that a host runs. Whatever ends the program early, a missing file or `kill -9`, the shell still refuses the call:
 * with the exit code that all hosts know, and a text, because Codex ignores a refusal without one. `folders` is the file that lists the
 * connected folders (null: agents in all folders are asked about). The line is the same for each of them, so a call costs one process,
 * and Codex, which trusts a line, still trusts it when a folder is added.
 */
export function hookCommand(
  host: HostName,
  { node, launcher, env }: OwnProgram,
  { event, isQuestion, folders }: { event: string; isQuestion: boolean; folders: string | null },
): string {
  const variables = Object.entries(env).map(([name, value]) => shellQuoted(`${name}=${value}`))
  const start = [...(variables.length === 0 ? [] : ['env', ...variables]), shellQuoted(node), shellQuoted(launcher)]
  const where = folders === null ? [] : ['--folders', shellQuoted(folders)]
  const line = [...start, 'hook', host, event, ...where, '--limit', String(HOOK_LIMIT_SECONDS)].join(' ')
  if (!isQuestion) return line
  return `${line} || sh -c 'echo "Quarterdeck could not be asked, so this call is refused." >&2; exit 2'`
}
