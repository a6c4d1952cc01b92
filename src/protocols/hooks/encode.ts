// Verdicts in the words of each host. docs/hosts.md says which versions these words were tried with.

import type { HookHost, HookReply, HookVerdict } from '../../supervision/hooks/hook-desk.ts'

type Words = Record<string, unknown>

const LONGEST_MESSAGE = 4_000

/**
 * The JSON that the hook prints. `{}`: no opinion. `given` is what the host wants to run. Where the host cannot do what was decided,
 * the answer is a refusal that says so: what runs is what a person approved, or nothing.
 */
export function encodeVerdict(host: HookHost, wireEvent: string, verdict: HookVerdict, given: Readonly<Words>): Words {
  if (verdict.behavior === 'pass') return {}
  if (verdict.behavior === 'deny') return encodeDenial(host, wireEvent, verdict.message)
  const { updatedInput } = verdict
  if (updatedInput !== undefined && !canChange(host, wireEvent, given, updatedInput)) {
    return encodeDenial(
      host,
      wireEvent,
      'A person approved this call with changes that this host cannot make. Call the tool again with exactly this input, ' +
        `which needs a new approval: ${JSON.stringify(updatedInput)}`,
    )
  }
  const changed = updatedInput === undefined ? {} : { updatedInput }
  // Gemini CLI itself tells the model which arguments were changed.
  if (host === 'gemini') {
    return {
      decision: 'allow',
      ...(updatedInput === undefined
        ? {}
        : { hookSpecificOutput: { hookEventName: wireEvent, tool_input: updatedInput } }),
    }
  }
  if (wireEvent === 'PermissionRequest') return specific(wireEvent, { decision: { behavior: 'allow', ...changed } })
  // Codex knows an `allow` only together with a changed input. Without an opinion it goes on.
  if (host === 'codex' && updatedInput === undefined) return {}
  // The model must know that the arguments were not the ones it wrote.
  const told = updatedInput === undefined ? {} : { additionalContext: editNote(updatedInput) }
  return specific(wireEvent, { permissionDecision: 'allow', ...changed, ...told })
}

const editNote = (input: Readonly<Words>): string => {
  const text = JSON.stringify(input)
  const shown = text.length <= LONGEST_MESSAGE ? text : `${text.slice(0, LONGEST_MESSAGE)}… (${text.length} characters)`
  return `A person changed the arguments of this call before it ran, to: ${shown}`
}

/** Also what the hook prints when it could not ask us. */
export function encodeDenial(host: HookHost, wireEvent: string, message: string): Words {
  // Codex ignores a refusal without a reason.
  const reason = message.trim().slice(0, LONGEST_MESSAGE) || 'Quarterdeck refused this call.'
  if (host === 'gemini') return { decision: 'deny', reason }
  if (wireEvent === 'PermissionRequest') return specific(wireEvent, { decision: { behavior: 'deny', message: reason } })
  return specific(wireEvent, { permissionDecision: 'deny', permissionDecisionReason: reason })
}

/** `stop`: the agent has finished its turn. Text for it then makes it go on. */
export function encodeReply(host: HookHost, wireEvent: string, { text }: HookReply, stop: boolean): Words {
  const said = text?.trim() ?? ''
  if (said === '') return {}
  if (stop) return { decision: host === 'gemini' ? 'deny' : 'block', reason: said }
  // Hosts take text for the agent only at the start.
  return wireEvent === 'SessionStart' ? specific(wireEvent, { additionalContext: said }) : {}
}

const specific = (wireEvent: string, output: Words): Words => ({
  hookSpecificOutput: { hookEventName: wireEvent, ...output },
})

/** Claude Code and Codex replace the input. Gemini CLI and Copilot CLI may merge it, so a key that is gone would come back. */
function canChange(host: HookHost, wireEvent: string, given: Readonly<Words>, updated: Readonly<Words>): boolean {
  if (host === 'codex') return wireEvent !== 'PermissionRequest'
  if (host === 'claude') return true
  return Object.keys(given).every((key) => Object.hasOwn(updated, key))
}
