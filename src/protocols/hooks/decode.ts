// What hosts write to the standard input of their hooks. They use nearly the same words; `src/hosts` says where they differ.

import { ServerError } from '../../domain/errors.ts'
import { isRecord } from '../../domain/is-record.ts'
import { type HostName, hostNames, hosts } from '../../hosts/hosts.ts'
import { toolEffect } from '../../hosts/tool-effect.ts'
import { toolNames } from '../../supervision/agent-service/agent-service.ts'
import type { HookCall, HookEvent } from '../../supervision/hooks/hook-service.ts'

export interface DecodedHook {
  /** The host's name of the event. The answer must name it. */
  wireEvent: string
  asked: HookCall | HookEvent
}

const EVENTS: Readonly<Record<string, HookEvent['event']>> = {
  SessionStart: 'session_start',
  SessionEnd: 'session_end',
  Notification: 'notification',
}

/** Whether some host asks with this event. */
export const isPermissionEvent = (wireEvent: string): boolean =>
  hostNames.some((name) => hosts[name].hook.asks.includes(wireEvent))

/** How the hosts spell a tool of an MCP server called quarterdeck. */
const OWN_PREFIX = /^(mcp__quarterdeck__|mcp_quarterdeck_|quarterdeck[-/.]|quarterdeck__)/

/** Throws `invalid_request`. Unknown keys are the host's own business. */
export function decodeHook(host: HostName, input: unknown): DecodedHook {
  if (!isRecord(input)) throw refused('', 'Send the JSON object that the host gives to its hook.')
  const wireEvent = text(input.hook_event_name)
  const source = { host, hostSessionId: text(input.session_id).slice(0, 200), cwd: text(input.cwd) }
  const { asks, turnEnds } = hosts[host].hook
  if (asks.includes(wireEvent)) return { wireEvent, asked: { ...source, ...decodeCall(host, input) } }
  if (wireEvent === turnEnds) return { wireEvent, asked: { ...source, event: 'notification', reason: 'stop' } }
  const event = Object.hasOwn(EVENTS, wireEvent) ? EVENTS[wireEvent] : undefined
  if (event === undefined) throw refused('/hook_event_name', `The event ${JSON.stringify(wireEvent)} is not known.`)
  const reason = text(input.reason) || text(input.source) || text(input.notification_type)
  return { wireEvent, asked: { ...source, event, reason: reason.slice(0, 200) } }
}

type CallPart = Omit<HookCall, 'host' | 'hostSessionId' | 'cwd'>

function decodeCall(host: HostName, input: Record<string, unknown>): CallPart {
  const toolName = text(input.tool_name)
  if (toolName === '' || toolName.length > 500) throw refused('/tool_name', 'Send the name of the tool.')
  const given = input.tool_input
  if (!isRecord(given)) throw refused('/tool_input', 'Send the input of the tool as an object.')
  // Codex calls the text of its patch a command.
  const command = toolEffect(host, toolName) === 'writes' ? '' : text(given.command)
  return {
    event: 'permission',
    toolName,
    input: given,
    toolUseId: text(input.tool_use_id).slice(0, 200) || null,
    isOwn: isOwn(toolName),
    ...(command === '' ? {} : { command }),
  }
}

function isOwn(toolName: string): boolean {
  const own = toolName.replace(OWN_PREFIX, '')
  // Another server could take our name, so only tools that we really have count.
  return own !== toolName && toolNames.has(own)
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

const refused = (pointer: string, detail: string): ServerError =>
  new ServerError('invalid_request', 'This is not the input of a hook.', { problems: [{ pointer, detail }] })
