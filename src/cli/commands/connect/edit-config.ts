// Puts what is ours into a config file of a host, and takes it out again. Text to text: nothing is written here.

import type { ConfigFile, HostSetup } from '../../../hosts/host.ts'
import { editJson, trimJson } from './edit-json.ts'
import { editToml } from './edit-toml.ts'
import { dropHooks, hasHooksForAll, setHooks } from './hook-entries.ts'

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
