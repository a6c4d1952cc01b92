// Whether a policy lets a request through without asking. The one evaluator: the tool that agents ask and the gate that lets work through
// both use it. In doubt a person is asked.

import { isAtLeast } from '../../domain/agent/tool-settings.ts'
import { splitCommandLine } from '../../domain/text/command-line.ts'
import { globMatches } from '../../domain/text/glob.ts'
import { hidesCharacters } from '../../domain/text/visible-text.ts'
import { toolEffect, writeShapes } from '../../hosts/tool-effect.ts'
import { type FileAccess, protectedChange, protectedPath } from '../workspace/protected-path.ts'
import type { PolicyRequest, WorkspacePolicy } from './workspace-policy.ts'

/** What stands above every policy file. */
export interface PolicyLimits {
  /** The commands of the server's settings, as arguments. A policy can only let through what is exactly one of these. */
  allowlist: readonly (readonly string[])[]
  /** Why nobody but a person may let an agent touch this path; null: a policy may. */
  protectedBecause(path: string, access: FileAccess): string | null
}

/** For requests of which only the path is known. Nobody has seen what a write to package.json changes, so it may change its scripts. */
export const protectedByPath = (path: string, access: FileAccess): string | null =>
  access === 'read' ? protectedPath(path) : protectedChange(path, null, '')

/** The commands of the settings. A text is split without a shell. The settings were checked, so one that cannot be split does not occur. */
export const allowlistOf = (commands: Readonly<Record<string, string | readonly string[]>>): (readonly string[])[] =>
  Object.values(commands).flatMap((command) => {
    if (typeof command !== 'string') return [command]
    const split = splitCommandLine(command)
    return split.ok ? [split.argv] : []
  })

export interface Judgement {
  autoApproved: boolean
  /** `command:npm test`, `tool:Read`, `file_pattern:write:src/**`; null if nothing matched. */
  matchedRule: string | null
  /** A sentence for people and for models. */
  why: string
  /** No policy could let this through, whatever it says. */
  personOnly: boolean
}

const MAX_PATH_CHARS = 1_024
const MAX_COMMAND_CHARS = 4_096

/** Takes time in proportion to the request × the policy. */
export function judgeRequest(policy: WorkspacePolicy, request: PolicyRequest, limits: PolicyLimits): Judgement {
  if (!policy.enabled) return ask('The workspace has no policy that is switched on.')
  const never = neverAllowed(request, limits)
  if (never !== null) return { ...ask(never), personOnly: true }
  const { riskLevel } = request
  if (riskLevel !== policy.riskLevelThreshold && isAtLeast(riskLevel, policy.riskLevelThreshold)) {
    return ask(`The risk is ${riskLevel}, and the policy only covers ${policy.riskLevelThreshold}.`)
  }
  // A command is what a shell tool does. Its name, or a file beside it, must not let it through.
  if (request.command !== null) return judgeCommand(policy, request.toolName, request.command)
  if (policy.tools.includes(request.toolName)) return allow(`tool:${request.toolName}`)
  if (request.filePath !== null) return judgeFile(policy, request.toolName, request.filePath)
  return ask(`The policy does not list the tool ${request.toolName}.`)
}

export const ask = (why: string): Judgement => ({ autoApproved: false, matchedRule: null, why, personOnly: false })

const allow = (rule: string): Judgement => ({
  autoApproved: true,
  matchedRule: rule,
  why: `The policy allows it: ${rule}`,
  personOnly: false,
})

function neverAllowed(
  { toolName, filePath, command, riskLevel, guarded }: PolicyRequest,
  limits: PolicyLimits,
): string | null {
  // Not `=== 'critical'`: a word that this version does not know must not count as harmless.
  if (riskLevel !== 'low' && riskLevel !== 'high') return 'A person decides about everything of critical risk.'
  if (hidesCharacters([toolName, filePath, command])) return 'The request has characters that people do not see.'
  if (filePath !== null) {
    if (!isConfined(filePath)) return 'The path is not a plain path inside the workspace.'
    const reason = limits.protectedBecause(filePath, accessOf(toolName))
    if (reason !== null) return `The path is protected: ${reason}`
  }
  if (guarded !== null) return guarded
  if (command === null) return null
  const split = splitPlainCommand(command)
  if ('problem' in split) return `No policy covers this command: ${split.problem}.`
  return isListed(split.words, limits.allowlist)
    ? null
    : 'The command is not one of the commands in the server’s settings.'
}

/** Whether these are exactly the arguments of a command of the server. */
const isListed = (words: readonly string[], allowlist: PolicyLimits['allowlist']): boolean =>
  allowlist.some((argv) => argv.length === words.length && argv.every((word, i) => word === words[i]))

/** Characters that a shell expands. We cannot know what they become. */
const EXPANDED = /[*?[\]{}~!#^\\]|(?<![^\s])=/

/** The arguments of a command that every shell reads as we do; otherwise what is in the way. */
export function splitPlainCommand(command: string): { words: string[] } | { problem: string } {
  if (command.length > MAX_COMMAND_CHARS) return { problem: `it is longer than ${MAX_COMMAND_CHARS} characters` }
  const split = splitCommandLine(command)
  if (!split.ok) return { problem: split.problem }
  const expanded = EXPANDED.exec(command)
  if (expanded !== null) return { problem: `it has ${expanded[0]}, which a shell may replace with something else` }
  return { words: split.argv }
}

function judgeCommand(policy: WorkspacePolicy, toolName: string, command: string): Judgement {
  // Every call can have a command beside what its tool really does.
  if (toolEffect(null, toolName) !== 'runs' && !policy.tools.includes(toolName)) {
    return ask(`The policy does not list the tool ${toolName}, and nobody knows that it only runs the command.`)
  }
  const split = splitPlainCommand(command)
  const words = 'words' in split ? split.words : []
  const pattern = policy.commands.find((one) => commandMatches(one, words))
  return pattern === undefined ? ask('The policy lists no such command.') : allow(`command:${pattern}`)
}

/** Each argument of the pattern is a glob for one argument, so `*` never matches a second one. */
export function commandMatches(pattern: string, words: readonly string[]): boolean {
  const split = splitCommandLine(pattern)
  if (!split.ok || words.length === 0 || split.argv.length !== words.length) return false
  return split.argv.every((part, i) => globMatches(part, words[i] ?? ''))
}

/** A tool that nobody knows may write. */
export function accessOf(toolName: string): FileAccess {
  const effect = toolEffect(null, toolName)
  return effect === 'reads' || effect === 'searches' ? 'read' : 'write'
}

function judgeFile({ filePatterns }: WorkspacePolicy, toolName: string, path: string): Judgement {
  const access = accessOf(toolName)
  // Nobody knows what another tool does with a path.
  if (access === 'write' && writeShapes(null, toolName).length === 0) {
    return ask(
      `The policy does not list the tool ${toolName}, and a pattern covers no tool that this server does not know.`,
    )
  }
  const pattern = filePatterns[access].find((one) => globMatches(one, path))
  if (pattern !== undefined) return allow(`file_pattern:${access}:${pattern}`)
  return ask(
    `The policy lists neither the tool ${toolName} nor this path for ${access === 'read' ? 'reading' : 'writing'}.`,
  )
}

/** `**` matches everything, so it only ever sees paths that cannot lead out of the workspace. Names that begin with a dot count too. */
export function isConfined(path: string): boolean {
  if (path === '' || path.length > MAX_PATH_CHARS || /[\\\p{Cc}]|^[a-z]:/iu.test(path)) return false
  return path.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
}
