// Our entries among the hooks in a host's JSON config: `{hooks: {Event: [{matcher?, hooks: [{command}]}]}}`, or in Copilot CLI
// `{hooks: {Event: [{bash}]}}`. Other people's hooks stay as they are.

import { hookHosts } from '../../../supervision/hooks/hook-desk.ts'
import { editJson, type JsonEditor } from './edit-json.ts'
import { shellText } from './hook-command.ts'

const OURS = new RegExp(`quarterdeck(?:\\.js)?["']? hook (${hookHosts.join('|')}) `)
/** Of an entry that is for one folder alone, as people write it by hand. */
const WORKSPACE = / --workspace ('(?:[^']|'\\'')*'|"[^"]*") /

/** Adds an entry for each event, in place of all that are ours. */
export function setHooks(json: JsonEditor, entries: Readonly<Record<string, unknown>>): void {
  dropHooks(json, { workspace: null, isLast: true })
  for (const [event, entry] of Object.entries(entries)) json.append(['hooks', event], entry)
}

/** Removes our entries if no other folder is connected. Otherwise only one that is for this folder alone. */
export function dropHooks(
  json: JsonEditor,
  { workspace, isLast }: { workspace: string | null; isLast: boolean },
): void {
  const goes = (command: string) => OURS.test(command) && (isLast || folderOf(command) === workspace)
  const hooks = json.get(['hooks'])
  for (const event of Object.keys(Object(hooks))) {
    const groups = json.get(['hooks', event])
    if (!Array.isArray(groups)) continue
    for (let at = groups.length - 1; at >= 0; at--) {
      const commands = commandsOf(groups[at])
      if (commands.length > 0 && commands.every(goes)) json.remove(['hooks', event, at])
    }
  }
}

/** The folders that our entries name. Null: all folders. An entry that names the file with the connected folders is not among them. */
export function hookedFolders(text: string): (string | null)[] {
  const found = new Set<string | null>()
  editJson(text, 'The host’s config', (json) => {
    for (const groups of Object.values(Object(json.get(['hooks'])))) {
      if (!Array.isArray(groups)) continue
      const ours = groups
        .flatMap(commandsOf)
        .filter((command) => OURS.test(command) && !command.includes(' --folders '))
      for (const command of ours) found.add(folderOf(command))
    }
  })
  return [...found]
}

function folderOf(command: string): string | null {
  const quoted = WORKSPACE.exec(command)?.[1]
  return quoted === undefined ? null : shellText(quoted)
}

function commandsOf(group: unknown): string[] {
  if (typeof group !== 'object' || group === null) return []
  const handlers: unknown[] = 'hooks' in group && Array.isArray(group.hooks) ? group.hooks : [group]
  return handlers.flatMap((handler) => {
    const { command, bash } = Object(handler) as { command?: unknown; bash?: unknown }
    return [command, bash].filter((one) => typeof one === 'string')
  })
}
