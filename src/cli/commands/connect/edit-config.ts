// Puts what is ours into a config file of a host, and takes it out again. Text to text: nothing is written here.

import type { ConfigFile, HostSetup } from '../../../hosts/host.ts'
import { hostNames } from '../../../hosts/hosts.ts'
import { editJson, type JsonEditor, trimJson } from './edit-json.ts'
import { editToml } from './edit-toml.ts'

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

/** Removes our entries. */
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
