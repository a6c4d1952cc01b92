// Reads one agent.yaml into an AgentDefinition. Loading only reads files: no network, no processes, no code is run.

import { dirname, resolve } from 'node:path'
import type { AgentDefinition } from '../../domain/agent.ts'
import { type ConfigIssue, issueWithoutLine } from '../config-error.ts'
import { type ConfigFiles, diskFiles, readText } from '../source/config-files.ts'
import { type Environment, readEnvironment } from '../source/env-file.ts'
import type { Path } from '../source/json-schema-node.ts'
import { type AgentDefaults, agentDefaults } from '../source/load-context.ts'
import { readYamlConfig } from '../source/yaml-config.ts'
import { type AgentYaml, agentYaml, starterAgent } from './agent-yaml.ts'
import { defineAgent } from './define-agent.ts'
import { ineffectiveConditions } from './ineffective-conditions.ts'

export interface LoadOptions {
  env: Environment
  files?: ConfigFiles
  /** Values from the server's settings for keys that an agent leaves out. */
  defaults?: AgentDefaults
  /** Called with things that are allowed but probably not intended, for each file without mistakes. */
  warn?: (warning: ConfigIssue) => void
  /** Called for each file without mistakes, with a function that creates issues at its keys, for mistakes that are found later. */
  located?: (agent: string, issueAt: IssueAt) => void
}

/** Creates an issue at a key of an agent file. */
export type IssueAt = (path: Path, message: string) => ConfigIssue

/** An agent file that was read, with all its mistakes. */
export interface ReadAgent {
  /** The path, as the caller named it. */
  file: string
  /** The checked file; null if there are issues. Tools of type `agent` are not linked yet. */
  yaml: AgentYaml | null
  agent: AgentDefinition | null
  issues: ConfigIssue[]
  /** For checks that compare several agents. */
  issueAt: IssueAt
}

export function readAgent(file: string, options: LoadOptions): ReadAgent {
  const files = options.files ?? diskFiles
  const issueOfFile = (_: Path, message: string) => issueWithoutLine(message, { file })
  const content = readText(files, file)
  if (content.text === null) {
    const help = content.missing ? ' Check the path, or create an agent with: quarterdeck init' : ''
    const issues = [issueOfFile([], `${content.problem}.${help}`)]
    return { file, yaml: null, agent: null, issues, issueAt: issueOfFile }
  }

  const { env, issues } = readEnvironment(dirname(file), options.env, files)
  const config = readYamlConfig({
    file,
    text: content.text,
    schema: agentYaml,
    env,
    starter: starterAgent,
    secrets: ['api_key', 'headers', 'env', 'proxy'],
  })
  issues.push(...config.issues)
  const { source, value } = config
  if (source === null) return { file, yaml: null, agent: null, issues, issueAt: issueOfFile }
  const issueAt = (at: Path, message: string) => source.issueAt(at, 'value', message)
  if (value === null) return { file, yaml: null, agent: null, issues, issueAt }

  const agent = defineAgent(value, {
    directory: dirname(resolve(file)),
    env,
    files,
    defaults: options.defaults ?? agentDefaults,
    report: (at, message) => void issues.push(issueAt(at, message)),
    written: config.written,
  })
  const isRight = issues.length === 0
  if (isRight) options.located?.(agent.name, issueAt)
  if (isRight)
    for (const { at, message } of ineffectiveConditions(value, agent.tools)) options.warn?.(issueAt(at, message))
  return { file, yaml: isRight ? value : null, agent: isRight ? agent : null, issues, issueAt }
}
