// What `POST /hooks/{host}` answers. The hook prints `output` only if the whole answer has this form: a stranger on our port that says
// 200 must not let a call through.

import type { Words } from '../../hosts/host.ts'
import type { HostName } from '../../hosts/hosts.ts'

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
  const value = parsed(text)
  if (typeof value !== 'object' || value === null) return null
  const { hook, behavior, output } = value as Partial<Record<keyof HookAnswer, unknown>>
  const known = behaviors.find((one) => one === behavior)
  if (hook !== host || known === undefined) return null
  if (typeof output !== 'object' || output === null || Array.isArray(output)) return null
  return { hook: host, behavior: known, output: { ...output } }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
