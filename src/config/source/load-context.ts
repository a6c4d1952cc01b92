// What lies around an agent file: its folder, the environment, what the server says. Paths in the file are resolved here.

import { resolve } from 'node:path'
import { type ConfigFiles, fileProblem } from './config-files.ts'
import type { Environment } from './env-file.ts'
import type { Path } from './json-schema-node.ts'

/** What the server's settings say where an agent says nothing. */
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
  /** Of the agent file, absolute. */
  directory: string
  env: Environment
  files: ConfigFiles
  defaults: AgentDefaults
  report(path: Path, message: string): void
  /** What stands at a path of the file, with a `WrittenText` where variables were put in. */
  written(path: Path): unknown
}

export const RELATIVE = 'Paths are relative to this file.'

/** The absolute path of a file that the agent file names at `at`; a missing one is reported. */
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
