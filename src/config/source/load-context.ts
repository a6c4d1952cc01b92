// What loading an agent file needs besides its text: its folder, the environment, the server's defaults.

import { resolve } from 'node:path'
import { z } from 'zod'
import { type ConfigFiles, fileProblem, readText } from './config-files.ts'
import type { Environment } from './env-file.ts'
import { inline } from './explain-issues.ts'
import type { Path } from './json-schema-node.ts'
import { key, reporter, text } from './schema-key.ts'

/** Values from the server's settings for keys that an agent leaves out. */
export interface AgentDefaults {
  maxMessages: number
  ttlSeconds: number
  retentionDays: number
  toolTimeoutMs: number
  /** `provider/model` of the models that may be tried in the place of an agent's own. */
  tryModels: readonly string[]
  /** Folders beside the agent's own that its tools may read documents from. */
  knowledgeFolders: readonly string[]
}

export const agentDefaults: AgentDefaults = {
  maxMessages: 200,
  ttlSeconds: 1800,
  retentionDays: 30,
  toolTimeoutMs: 30_000,
  tryModels: [],
  knowledgeFolders: [],
}

export interface LoadContext {
  /** Absolute path of the agent file's folder. */
  directory: string
  env: Environment
  files: ConfigFiles
  defaults: AgentDefaults
  report(path: Path, message: string): void
  /** About what is allowed but probably not intended. */
  warn(path: Path, message: string): void
  /** The value at a path of the file as it is written: a text with variables is a `WrittenText`. */
  written(path: Path): unknown
}

const RELATIVE = 'Paths are relative to this file.'

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

// A text that is written in agent.yaml or in a file next to it: instructions, the template of a prompt.

/** `name` is the key that holds the text, `what` is the word for it in messages. */
export const textOrFile = (name: string, what: string, example: string) =>
  z.union([
    text(),
    z
      .strictObject({
        inline: key(text().optional(), `The ${what}, written here.`, example),
        file: key(
          text().optional(),
          `Text file with the ${what}, relative to this file. Variables (\`\${…}\`) in it are not replaced.`,
          `${name}.md`,
        ),
      })
      .superRefine((value, context) => {
        if ((value.inline === undefined) !== (value.file === undefined)) return
        const found = value.inline === undefined ? 'neither' : 'both'
        const advice = `Write e.g. ${name}: ${inline({ inline: example })}`
        reporter(context)([], `expected exactly one of inline and file, found ${found}. ${advice}`)
      }),
  ])

type TextOrFile = z.infer<ReturnType<typeof textOrFile>>

export function readTextOrFile(from: TextOrFile, at: Path, { directory, files, report }: LoadContext): string {
  if (typeof from === 'string') return from
  if (from.file === undefined) return from.inline ?? ''
  const path = resolve(directory, from.file)
  const { text, problem } = readText(files, path)
  if (text === null) report([...at, 'file'], `${path}: ${problem}. ${RELATIVE}`)
  else if (text.trim() === '') report([...at, 'file'], `${path} is empty. Write the ${String(at.at(-1))} into it.`)
  return text ?? ''
}
