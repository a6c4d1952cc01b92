// What a call of a host's tool would do to a file of the workspace.

import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import { ServerError } from '../../domain/errors.ts'
import { isWithin } from '../../domain/is-within.ts'
import type { WriteShape } from '../../hosts/host.ts'
import { textArguments, toolEffect, writeShapes } from '../../hosts/tool-effect.ts'
import { isPatch } from '../diffs/apply-patch.ts'
import { decodeFile } from '../diffs/file-text.ts'
import { type ProposedChange, proposeChange } from '../diffs/propose-change.ts'
import { confine } from '../workspace/confine.ts'
import { readWorkspaceFile } from '../workspace/read-workspace-file.ts'
import { COMMANDS as COMMAND_ARGUMENTS, FOLDERS } from '../workspace-policy/request-of-call.ts'

/** What a host is about to call. */
export interface NamedCall {
  /** See `toolEffect`. */
  host: string
  toolName: string
  input: Readonly<Record<string, unknown>>
  /** Where the agent is now. */
  cwd: string
}

/** Arguments that are text or commands, so that no path is looked for in them. Of a tool that nobody knows, every argument may be a path. */
export function pathlessArguments({ host, toolName }: NamedCall, isCommand: boolean): ReadonlySet<string> {
  // What runs is judged as a command, and where, by the folder that the host says.
  if (isCommand) return new Set([...COMMAND_ARGUMENTS, ...FOLDERS])
  return writeShapes(host, toolName).length > 0 ? textArguments : new Set()
}

/** Where a tool that we know names the file that it changes. */
export const pathArguments = ({ host, toolName }: NamedCall): string[] =>
  writeShapes(host, toolName).map(({ path }) => path)

/** Whether a tool that we know is given its file in an argument that we do not know of it. */
export function writesElsewhere({ host, toolName, input }: NamedCall, path: string | null): boolean {
  const shapes = writeShapes(host, toolName)
  return shapes.length > 0 && path !== null && !shapes.some((shape) => input[shape.path] === path)
}

/** Where the command of a call runs: some hosts let the model name the folder. Null: the call does not say it clearly. */
export function folderOfCommand({ input, cwd }: NamedCall): string | null {
  const named = Object.entries(input).flatMap(([name, value]) => (FOLDERS.has(name) && value !== null ? [value] : []))
  const [folder = cwd] = named
  return named.length > 1 || typeof folder !== 'string' ? null : resolve(cwd, folder)
}

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
  call: NamedCall,
  { workspaceRoot, serverPaths }: { workspaceRoot: string; serverPaths: readonly string[] },
): Promise<ProposedChange | { problem: string } | null> {
  const shape = writeShapes(call.host, call.toolName).find(
    ({ path, whole, old }) => (whole ?? old) !== undefined && typeof call.input[path] === 'string',
  )
  if (shape === undefined)
    return toolEffect(call.host, call.toolName) === 'writes'
      ? { problem: 'This tool’s changes cannot be shown as a diff.' }
      : null
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
