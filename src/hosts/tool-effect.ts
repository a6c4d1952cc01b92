// What a tool of a host does, by its name. The one place that knows: the gate, the policies and the assessment of risk all ask here.

import { type HostTool, type HostTools, type ToolEffect, toolsThat, type WriteShape, writer } from './host.ts'
import { hosts, isHostName, programOf } from './hosts.ts'

/**
 * `host`: its name, or what its MCP client calls itself. A host that we know goes by its own list; every other, and null, by all lists
 * together, in lower case.
 */
export function toolEffect(
  host: string | null,
  toolName: string,
  input: Readonly<Record<string, unknown>> = {},
): ToolEffect {
  const own = listOf(host)
  const [tool] = toolsNamed(own, toolName)
  if (tool === undefined || tool.unless?.some((name) => Object.hasOwn(input, name))) return 'unknown'
  // What a host that nobody knows calls `task` may be anything.
  return own === null && tool.effect === 'host' ? 'unknown' : tool.effect
}

/** How the tool may name the one file that it changes, and the new text. Empty: it may change others too. */
export const writeShapes = (host: string | null, toolName: string): readonly WriteShape[] =>
  toolsNamed(listOf(host), toolName).flatMap(({ writes }) => writes ?? [])

/** Our own, and those of hosts that have no file here. */
const others: HostTools = {
  ask_approval: writer({ path: 'file_path' }),
  list_files: 'reads',
  search_files: 'searches',
  writefile: writer({ path: 'file_path', whole: 'content' }),
  ...toolsThat('writes', 'delete_file', 'move_file'),
  ...toolsThat('runs', 'exec', 'terminal'),
}

const anywhere = new Map<string, HostTool[]>()
for (const tools of [...Object.values(hosts).map((host) => host.tools), others]) {
  for (const [name, tool] of Object.entries(tools)) {
    const key = name.toLowerCase()
    anywhere.set(key, [...(anywhere.get(key) ?? []), asTool(tool)])
  }
}

function listOf(host: string | null): HostTools | null {
  if (host === null) return null
  const name = programOf(host)
  return isHostName(name) ? hosts[name].tools : null
}

function toolsNamed(own: HostTools | null, toolName: string): readonly HostTool[] {
  if (own === null) return anywhere.get(toolName.toLowerCase()) ?? []
  const tool = Object.hasOwn(own, toolName) ? own[toolName] : undefined
  return tool === undefined ? [] : [asTool(tool)]
}

function asTool(tool: ToolEffect | HostTool): HostTool {
  return typeof tool === 'string' ? { effect: tool } : tool
}

/** Arguments of writing tools that are text, so that no path is looked for in them: of those that we know, and what others call them. */
export const textArguments: ReadonlySet<string> = new Set([
  ...[...anywhere.values()]
    .flat()
    .flatMap(({ writes }) => [writes?.whole, writes?.old, writes?.next].filter((name) => name !== undefined)),
  ...['contents', 'new_source', 'text', 'insert_text', 'replacement', 'description', 'instruction', 'explanation'],
])
