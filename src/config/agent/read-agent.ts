// One agent.yaml -> AgentDefinition. Loading reads files and nothing else: no network, no process, no code.

import { dirname, resolve } from 'node:path'
import type { AgentDefinition } from '../../domain/agent.ts'
import type { ConfigIssue } from '../config-error.ts'
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
  /** What the server's settings say where an agent says nothing. */
  defaults?: AgentDefaults
  /** Told what is allowed but hardly meant, of each file that is right. */
  warn?: (warning: ConfigIssue) => void
  /** Told of each file that is right how to point at its keys, for what is found out later. */
  located?: (agent: string, issueAt: IssueAt) => void
}

/** An issue at a key of an agent's file. */
export type IssueAt = (path: Path, message: string) => ConfigIssue

/** An agent file that was read, and all that is wrong with it. */
export interface ReadAgent {
  /** As its reader named it. */
  file: string
  /** What it says; null when there are issues. Its tools that are agents are not linked yet. */
  yaml: AgentYaml | null
  agent: AgentDefinition | null
  issues: ConfigIssue[]
  /** An issue at a key of this file, for checks that compare several agents. */
  issueAt: IssueAt
}

export function readAgent(file: string, options: LoadOptions): ReadAgent {
  const files = options.files ?? diskFiles
  const placeless = (_: Path, message: string): ConfigIssue => ({ file, line: null, column: null, path: '', message })
  const content = readText(files, file)
  if (content.text === null) {
    const help = content.missing ? ' Check the path, or create an agent with: quarterdeck init' : ''
    const issues = [placeless([], `${content.problem}.${help}`)]
    return { file, yaml: null, agent: null, issues, issueAt: placeless }
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
  if (source === null) return { file, yaml: null, agent: null, issues, issueAt: placeless }
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
