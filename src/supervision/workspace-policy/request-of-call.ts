// What a tool call of a coding agent does, as far as a policy looks at it: the file it touches and the command it runs. Hosts name these
// arguments differently.

import type { Risk } from '../../domain/agent/tool-settings.ts'
import { isRecord } from '../../domain/is-record.ts'
import { isPathArgument } from '../policy/path-conditions.ts'
import type { NamedRequest } from './workspace-policy.ts'

export const COMMANDS: ReadonlySet<string> = new Set(['command', 'cmd', 'script', 'code', 'shell_command', 'argv'])
export const FOLDERS: ReadonlySet<string> = new Set(['cwd', 'workdir', 'working_directory', 'directory', 'dir_path'])
/** A patch names its files inside its text. */
const PATCHES: ReadonlySet<string> = new Set(['patch', 'diff'])
const MAX_VALUES = 1_000

/**
 * Null if a person must look: the arguments name several files or commands, a file inside a list or a patch, or a folder other than the
 * workspace for a command. The path is as the agent wrote it: confine it before it is judged.
 */
export function requestOfCall(
  toolName: string,
  input: unknown,
  riskLevel: Risk,
  workspaceRoot: string | null,
): NamedRequest | null {
  if (!isRecord(input) || hidesPaths(input) || /patch/i.test(toolName)) return null
  const runsCommand = Object.keys(input).some((name) => COMMANDS.has(name))
  const paths = new Set<unknown>()
  const commands: unknown[] = []
  for (const [name, value] of Object.entries(input)) {
    if (value === null || value === undefined) continue
    if (COMMANDS.has(name)) commands.push(value)
    else if (PATCHES.has(name)) return null
    else if (FOLDERS.has(name)) {
      // Where a tool without a command looks is the file it touches.
      if (!runsCommand) paths.add(value)
      else if (value !== workspaceRoot) return null
    } else if (isPathArgument(name, {}) || name === 'filename') paths.add(value)
  }
  const [filePath = null] = paths
  const command = commands.length === 0 ? null : commandLine(commands[0])
  if (paths.size > 1 || commands.length > 1 || (commands.length === 1 && command === null)) return null
  return filePath === null || typeof filePath === 'string' ? { toolName, filePath, command, riskLevel } : null
}

/** Whether a file is named deeper than at the top, or there is too much to look through. */
function hidesPaths(input: Record<string, unknown>): boolean {
  const left: unknown[] = Object.values(input).filter((value) => typeof value === 'object')
  for (let seen = 0; left.length > 0; seen += 1) {
    const value = left.pop()
    if (seen > MAX_VALUES) return true
    if (typeof value !== 'object' || value === null) continue
    if (!Array.isArray(value) && Object.keys(value).some((name) => isPathArgument(name, {}) || COMMANDS.has(name)))
      return true
    for (const inner of Object.values(value)) left.push(inner)
  }
  return false
}

/** Some hosts send a list of arguments. In single quotes every shell leaves a word as it is. Null: it cannot be spelled. */
export function commandLine(command: unknown): string | null {
  if (typeof command === 'string') return command
  if (!Array.isArray(command) || command.length === 0) return null
  const words = command.map((word) => {
    if (typeof word !== 'string' || word.includes("'")) return null
    return /^[\w@%+:,./-][\w@%+=:,./-]*$/.test(word) ? word : `'${word}'`
  })
  return words.includes(null) ? null : words.join(' ')
}
