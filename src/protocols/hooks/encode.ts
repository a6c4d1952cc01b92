// Verdicts in the words of each host.

import { isRecord } from '../../domain/is-record.ts'
import { jsonIn } from '../../domain/json-in.ts'
import type { Words } from '../../hosts/host.ts'
import { type HostName, hosts } from '../../hosts/hosts.ts'
import type { HookReply, HookVerdict } from '../../supervision/hooks/hook-service.ts'

const LONGEST_MESSAGE = 4_000

/**
 * The JSON that the hook prints. `{}`: no opinion. `given` is what the host wants to run. Where the host cannot do what was decided,
 * the answer is a refusal that says so: what runs is what a person approved, or nothing.
 */
export function encodeVerdict(host: HostName, wireEvent: string, verdict: HookVerdict, given: Words): Words {
  const { hook } = hosts[host]
  if (verdict.behavior === 'pass') return {}
  if (verdict.behavior === 'deny') return encodeDenial(host, wireEvent, verdict.message)
  const { updatedInput } = verdict
  if (updatedInput === undefined) return hook.allow(wireEvent, null)
  // The model must know that the arguments were not the ones it wrote.
  const changed = { updated: updatedInput, note: editNote(updatedInput) }
  if (hook.canChange(wireEvent, given, updatedInput)) return hook.allow(wireEvent, changed)
  return encodeDenial(
    host,
    wireEvent,
    'A person approved this call with changes that this host cannot make. Call the tool again with exactly this input, ' +
      `which needs a new approval: ${JSON.stringify(updatedInput)}`,
  )
}

const editNote = (input: Words): string => {
  const text = JSON.stringify(input)
  const shown = text.length <= LONGEST_MESSAGE ? text : `${text.slice(0, LONGEST_MESSAGE)}… (${text.length} characters)`
  return `A person changed the arguments of this call before it ran, to: ${shown}`
}

/** Also what the hook prints when it could not ask us. */
export const encodeDenial = (host: HostName, wireEvent: string, message: string): Words =>
  // Codex ignores a refusal without a reason.
  hosts[host].hook.deny(wireEvent, message.trim().slice(0, LONGEST_MESSAGE) || 'Quarterdeck refused this call.')

/** If the agent has just finished its turn, text for it makes it go on. */
export function encodeReply(host: HostName, wireEvent: string, { text }: HookReply): Words {
  const { turnEnds, goOn } = hosts[host].hook
  const said = text?.trim() ?? ''
  if (said === '') return {}
  if (wireEvent === turnEnds) return goOn(said)
  // Hosts take text for the agent only at the start.
  if (wireEvent !== 'SessionStart') return {}
  return { hookSpecificOutput: { hookEventName: wireEvent, additionalContext: said } }
}

// What `POST /hooks/{host}` answers. The hook prints `output` only if the whole answer has this form: a stranger on our port that says
// 200 must not let a call through.

export const behaviors = ['allow', 'deny', 'pass', 'noted'] as const

export interface HookAnswer {
  hook: HostName
  /** `noted`: the host told us something and did not ask. */
  behavior: (typeof behaviors)[number]
  /** In the host's words. */
  output: Words
}

/** How often the server sends an empty line while it waits for a decision. */
export const HEARTBEAT_MS = 5_000

/** Null if the text is not such an answer for this host. */
export function readHookAnswer(text: string, host: HostName): HookAnswer | null {
  const value = jsonIn(text)
  if (!isRecord(value)) return null
  const { hook, behavior, output } = value
  const known = behaviors.find((one) => one === behavior)
  if (hook !== host || known === undefined || !isRecord(output)) return null
  return { hook: host, behavior: known, output }
}
