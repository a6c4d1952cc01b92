// agent.yaml -> AgentDefinition. Loading reads files and nothing else: no network, no process, no code.

import { dirname, resolve } from 'node:path'
import type { AgentDefinition } from '../domain/agent.ts'
import { agentFile, starterAgent } from './agent-file.ts'
import { ConfigError, type ConfigIssue } from './config-error.ts'
import { type ConfigFiles, diskFiles, readText } from './config-files.ts'
import { type AgentDefaults, agentDefaults, defineAgent } from './define-agent.ts'
import { type Environment, readEnvironment } from './env-file.ts'
import type { Path } from './json-schema-node.ts'
import { readYamlConfig } from './yaml-config.ts'

export interface LoadOptions {
  env: Environment
  files?: ConfigFiles
  /** What the server's settings say where an agent says nothing. */
  defaults?: AgentDefaults
}

/** An agent file that was read, and all that is wrong with it. */
export interface CheckedAgent {
  /** Null when there are issues. */
  agent: AgentDefinition | null
  issues: ConfigIssue[]
  /** An issue at a key of this file, for checks that compare several agents. */
  issueAt(path: Path, message: string): ConfigIssue
}

/** Throws a `ConfigError` with everything that is wrong. */
export function loadAgent(path: string, options: LoadOptions): AgentDefinition {
  const { agent, issues } = checkAgent(path, options)
  if (agent === null) throw new ConfigError(issues)
  return agent
}

/** Like `loadAgent`, but hands the issues back. */
export function checkAgent(path: string, options: LoadOptions): CheckedAgent {
  const files = options.files ?? diskFiles
  const placeless = (_: Path, message: string): ConfigIssue => ({
    file: path,
    line: null,
    column: null,
    path: '',
    message,
  })
  const file = readText(files, path)
  if (file.text === null) {
    const help = file.missing ? ' Check the path, or make an agent with: quarterdeck init' : ''
    return { agent: null, issues: [placeless([], `${file.problem}.${help}`)], issueAt: placeless }
  }

  const directory = dirname(resolve(path))
  const { env, issues } = readEnvironment(dirname(path), options.env, files)
  const config = readYamlConfig({
    file: path,
    text: file.text,
    schema: agentFile,
    env,
    starter: starterAgent,
    secrets: ['api_key'],
  })
  issues.push(...config.issues)
  const { source } = config
  if (source === null) return { agent: null, issues, issueAt: placeless }
  const issueAt = (at: Path, message: string) => source.issueAt(at, 'value', message)
  if (config.value === null) return { agent: null, issues, issueAt }

  const report = (at: Path, message: string) => void issues.push(issueAt(at, message))
  const agent = defineAgent(config.value, {
    directory,
    env,
    files,
    defaults: options.defaults ?? agentDefaults,
    report,
  })
  return { agent: issues.length === 0 ? agent : null, issues, issueAt }
}
