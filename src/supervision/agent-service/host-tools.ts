// What the tools of the known hosts do, as data, and what a call of one would do to a file of the workspace.

import { isAbsolute, join, relative, sep } from 'node:path'
import { ServerError } from '../../domain/errors.ts'
import { isWithin } from '../../domain/is-within.ts'
import { isPatch } from '../diffs/apply-patch.ts'
import { decodeFile } from '../diffs/file-text.ts'
import { type ProposedChange, proposeChange } from '../diffs/propose-change.ts'
import { confine } from '../workspace/confine.ts'
import { readWorkspaceFile } from '../workspace/read-workspace-file.ts'
import { isKnownShell, isKnownWriter } from '../workspace-policy/judge-request.ts'
import { COMMANDS as COMMAND_ARGUMENTS, FOLDERS } from '../workspace-policy/request-of-call.ts'

/** How a tool names what it writes. */
interface WriteShape {
  /** In lower case. */
  tools: readonly string[]
  path: string
  /** The whole text, or a text and the one that replaces it. */
  whole?: string
  old?: string
  next?: string
  all?: string
  /** Arguments that make it do something else, so that we cannot say what. */
  not?: readonly string[]
}

const WRITES: readonly WriteShape[] = [
  // Claude Code and Gemini CLI.
  { tools: ['write', 'write_file', 'writefile'], path: 'file_path', whole: 'content' },
  { tools: ['edit'], path: 'file_path', old: 'old_string', next: 'new_string', all: 'replace_all' },
  { tools: ['replace'], path: 'file_path', old: 'old_string', next: 'new_string', not: ['expected_replacements'] },
  // Copilot CLI.
  { tools: ['create'], path: 'path', whole: 'file_text' },
  { tools: ['edit', 'str_replace'], path: 'path', old: 'old_str', next: 'new_str' },
]

/** The arguments of known writing tools. */
const PATHS = ['file_path', 'path', 'notebook_path']
const TEXTS: ReadonlySet<string> = new Set([
  ...WRITES.flatMap(({ whole, old, next }) => [whole, old, next].filter((name) => name !== undefined)),
  'new_source',
])

/** Tools that change files in ways that we cannot foresee. */
const OTHER_WRITES: ReadonlySet<string> = new Set([
  'multiedit',
  'notebookedit',
  'apply_patch',
  'delete_file',
  'move_file',
])

export type ToolKind = 'command' | 'write' | 'other'

export function kindOfTool(toolName: string): ToolKind {
  const name = toolName.toLowerCase()
  if (isKnownShell(name)) return 'command'
  return OTHER_WRITES.has(name) || WRITES.some(({ tools }) => tools.includes(name)) ? 'write' : 'other'
}

/** Arguments that are text or commands, so that no path is looked for in them. Of a tool that nobody knows, every argument may be a path. */
export function pathlessArguments(toolName: string, isCommand: boolean): ReadonlySet<string> {
  // What runs is judged as a command, and where, by the folder that the host says.
  if (isCommand) return new Set([...COMMAND_ARGUMENTS, ...FOLDERS])
  return isKnownWriter(toolName) ? TEXTS : new Set()
}

/** Whether a tool that we know is given its file in an argument that we do not know of it. */
export const writesElsewhere = (
  toolName: string,
  input: Readonly<Record<string, unknown>>,
  path: string | null,
): boolean => isKnownWriter(toolName) && path !== null && !PATHS.some((name) => input[name] === path)

/**
 * A path as a host names it, relative to the workspace; null if it does not lead to one ordinary file there. `cwd`: where the agent is,
 * for relative paths.
 */
export async function workspacePath(workspaceRoot: string, path: string, cwd = workspaceRoot): Promise<string | null> {
  const absolute = isAbsolute(path) ? path : join(cwd, path)
  if (!isWithin(absolute, workspaceRoot) || absolute === workspaceRoot) return null
  try {
    return (await confine(workspaceRoot, relative(workspaceRoot, absolute).split(sep).join('/'))).path
  } catch (error) {
    if (error instanceof ServerError) return null
    throw error
  }
}

/** The change that a call would make; a sentence if we cannot show it; null if the tool writes no file that we know of. */
export async function changeOfCall(
  call: { toolName: string; input: Readonly<Record<string, unknown>>; cwd: string },
  { workspaceRoot, serverPaths }: { workspaceRoot: string; serverPaths: readonly string[] },
): Promise<ProposedChange | { problem: string } | null> {
  const name = call.toolName.toLowerCase()
  const shape = WRITES.find((one) => one.tools.includes(name) && typeof call.input[one.path] === 'string')
  if (shape === undefined)
    return kindOfTool(name) === 'write' ? { problem: 'This tool’s changes cannot be shown as a diff.' } : null
  const filePath = await workspacePath(workspaceRoot, String(call.input[shape.path]), call.cwd)
  if (filePath === null) return { problem: OUTSIDE }
  try {
    const diff = await newText(shape, call.input, workspaceRoot, filePath)
    if (typeof diff !== 'string') return diff
    // A text that begins like a patch would be read as one.
    if (isPatch(diff)) return { problem: 'The new text looks like a patch, so it is not shown as a diff.' }
    return await proposeChange({ workspaceRoot, filePath, diff, serverPaths })
  } catch (error) {
    if (error instanceof ServerError) return { problem: error.message }
    throw error
  }
}

export const OUTSIDE = 'The path does not lead to a file of the workspace.'

async function newText(
  { whole, old, next, all, not = [] }: WriteShape,
  input: Readonly<Record<string, unknown>>,
  workspaceRoot: string,
  filePath: string,
): Promise<string | { problem: string }> {
  const text = (name: string | undefined): string | null => {
    const value = name === undefined ? undefined : input[name]
    return typeof value === 'string' ? value : null
  }
  const [content, from, to] = [text(whole), text(old), text(next)]
  if (content !== null) return content
  if (from === null || to === null || not.some((name) => Object.hasOwn(input, name))) {
    return { problem: 'The arguments are not those that this tool usually has, so there is no diff.' }
  }
  const file = await readWorkspaceFile(await confine(workspaceRoot, filePath))
  if (file === null) return from === '' ? to : { problem: 'The file does not exist, so the edit would fail.' }
  const before = decodeFile(file.bytes, filePath).text
  const found = from === '' ? 0 : before.split(from).length - 1
  const isAll = all !== undefined && input[all] === true
  if (found === 0) return { problem: 'The text to replace is not in the file, so the edit would fail.' }
  if (found > 1 && !isAll)
    return { problem: `The text to replace is in the file ${found} times, so the edit would fail.` }
  return before.replaceAll(from, () => to)
}
