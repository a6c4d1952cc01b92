// What a tool call of a coding agent does, as far as a policy looks at it: the file it touches and the command it runs. Hosts name these
// arguments differently.

import { isRecord } from '../../domain/is-record.ts'
import type { Risk } from '../../domain/tool-settings.ts'
import type { PolicyRequest } from './workspace-policy.ts'

const PATHS = ['file_path', 'filePath', 'path', 'notebook_path', 'absolute_path', 'target_file', 'file', 'filename']
const COMMANDS = ['command', 'cmd', 'script', 'code', 'shell_command']

/**
 * Null if the arguments name several files or commands, or name one in a way that we do not know: then a person must look. The path is as
 * the agent wrote it: confine it before it is judged.
 */
export function requestOfCall(toolName: string, input: unknown, riskLevel: Risk): PolicyRequest | null {
  if (!isRecord(input)) return null
  const paths = valuesOf(input, PATHS)
  const commands = valuesOf(input, COMMANDS)
  const [filePath = null, secondPath] = paths
  const [command = null, secondCommand] = commands
  if (secondPath !== undefined || secondCommand !== undefined) return null
  if ((filePath !== null && typeof filePath !== 'string') || (command !== null && typeof command !== 'string'))
    return null
  return { toolName, filePath, command, riskLevel }
}

function valuesOf(input: Record<string, unknown>, names: readonly string[]): unknown[] {
  const values = names.filter((name) => Object.hasOwn(input, name)).map((name) => input[name])
  return [...new Set(values.filter((value) => value !== null && value !== undefined))]
}
