import { expect } from 'vitest'
import type { AgentDefinition } from '../../domain/agent/agent.ts'
import { checkAgent } from '../agent/load-agents.ts'
import { formatIssue } from '../config-error.ts'
import type { Environment } from '../source/env-file.ts'
import { createMemoryFiles } from './memory-files.ts'

/** The required keys of an agent file. They come first, so that the lines of a test start at line 4. */
const head = 'name: a\nmodel: { provider: demo }\ninstructions: Be kind.\n'

export interface LoadInput {
  env?: Environment
  /** Further files, by absolute path. The agent file is `/a/agent.yaml`. */
  files?: Record<string, string>
}

const check = (lines: string, { env = {}, files = {} }: LoadInput) =>
  checkAgent('/a/agent.yaml', { env, files: createMemoryFiles({ ...files, '/a/agent.yaml': head + lines }) })

/** The agent of a correct file with these lines. */
export function loadLines(lines: string, input: LoadInput = {}): AgentDefinition {
  const { agent, issues } = check(lines, input)
  expect(issues.map(formatIssue)).toEqual([])
  if (agent === null) throw new Error('no issues and no agent')
  return agent
}

/** The mistakes in a file with these lines, as a person reads them, without the folder. */
export function mistakesIn(lines: string, input: LoadInput = {}): string[] {
  const { agent, issues } = check(lines, input)
  expect(agent === null).toBe(issues.length > 0)
  return issues.map((issue) => formatIssue(issue).replaceAll('/a/', ''))
}
