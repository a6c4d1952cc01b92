// What loading an agent file needs besides its text: its folder, the environment, the server's defaults.

import { resolve } from 'node:path'
import { type ConfigFiles, fileProblem } from './config-files.ts'
import type { Environment } from './env-file.ts'
import type { Path } from './json-schema-node.ts'

/** Values from the server's settings for keys that an agent leaves out. */
export interface AgentDefaults {
  maxMessages: number
  ttlSeconds: number
  retentionDays: number
  toolTimeoutMs: number
}

export const agentDefaults: AgentDefaults = {
  maxMessages: 200,
  ttlSeconds: 1800,
  retentionDays: 30,
  toolTimeoutMs: 30_000,
}

export interface LoadContext {
  /** Absolute path of the agent file's folder. */
  directory: string
  env: Environment
  files: ConfigFiles
  defaults: AgentDefaults
  report(path: Path, message: string): void
  /** The value at a path of the file as it is written: a text with variables is a `WrittenText`. */
  written(path: Path): unknown
}

export const RELATIVE = 'Paths are relative to this file.'

/** The absolute path of a file that the agent file names at `at`. Reports a file that does not exist. */
export function existingFile(path: string, at: Path, { directory, files, report }: LoadContext): string {
  const absolute = resolve(directory, path)
  const problem = fileProblem(files, absolute)
  if (problem !== null) report(at, `${absolute}: ${problem}. ${RELATIVE}`)
  return absolute
}

export function existingFolder(path: string, at: Path, { directory, files, report }: LoadContext): string {
  const absolute = resolve(directory, path)
  if (files.list(absolute) === null) report(at, `${absolute}: there is no such folder. ${RELATIVE}`)
  return absolute
}
