// The words of Claude Code's hooks. Other hosts speak them too, with differences that their own files name.

import type { HookWords, Words } from './host.ts'

const specific = (event: string, output: Words): Words => ({ hookSpecificOutput: { hookEventName: event, ...output } })

export const usualWords: Omit<HookWords, 'reading' | 'canChange'> = {
  asks: ['PreToolUse', 'PermissionRequest'],
  turnEnds: 'Stop',
  patching: [],
  projectVariable: null,
  allow(event, changed) {
    const input = changed === null ? {} : { updatedInput: changed.updated }
    if (event === 'PermissionRequest') return specific(event, { decision: { behavior: 'allow', ...input } })
    const told = changed === null ? {} : { additionalContext: changed.note }
    return specific(event, { permissionDecision: 'allow', ...input, ...told })
  },
  deny(event, reason) {
    if (event === 'PermissionRequest') return specific(event, { decision: { behavior: 'deny', message: reason } })
    return specific(event, { permissionDecision: 'deny', permissionDecisionReason: reason })
  },
  goOn: (text) => ({ decision: 'block', reason: text }),
  denialExitCode: 2,
}

/** A host that merges the new arguments into the old ones would bring a key back that is gone. */
export const keepsKeys = (_event: string, given: Words, updated: Words): boolean =>
  Object.keys(given).every((key) => Object.hasOwn(updated, key))
