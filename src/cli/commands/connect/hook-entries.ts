// Our entries among the hooks in a host's JSON config: `{hooks: {Event: [{matcher?, hooks: [{command}]}]}}`, or in Copilot CLI
// `{hooks: {Event: [{bash}]}}`. Other people's hooks stay as they are.

import { hostNames } from '../../../hosts/hosts.ts'
import { editJson, type JsonEditor } from './edit-json.ts'

const OURS = new RegExp(`quarterdeck(?:\\.js)?["']? hook (${hostNames.join('|')}) `)

/** Adds an entry for each event, in place of all that are ours. */
export function setHooks(json: JsonEditor, entries: Readonly<Record<string, unknown>>): void {
  dropHooks(json)
  for (const [event, entry] of Object.entries(entries)) json.append(['hooks', event], entry)
}

/** Removes our entries. */
export function dropHooks(json: JsonEditor): void {
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
export function hasHooksForAll(text: string, name: string): boolean {
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
