// Reads one agent.yaml into an AgentDefinition. Loading only reads files: no network, no processes, no code is run.

import { dirname, resolve } from 'node:path'
import type { AgentDefinition } from '../../domain/agent/agent.ts'
import type { ApprovalRule } from '../../domain/agent/approval-rule.ts'
import { isAtLeast, type Risk, type ToolSettings } from '../../domain/agent/tool-settings.ts'
import { type ConfigIssue, issueWithoutLine } from '../config-error.ts'
import { type ConfigFiles, diskFiles, readText } from '../source/config-files.ts'
import { type Environment, readEnvironment } from '../source/env-file.ts'
import type { Path } from '../source/json-schema-node.ts'
import { type AgentDefaults, agentDefaults } from '../source/load-context.ts'
import { readYamlConfig } from '../source/yaml-config.ts'
import { type AgentYaml, agentYaml, starterAgent } from './agent-yaml.ts'
import { defineAgent } from './define-agent.ts'
import { maskedSource, secretKeys } from './masked-source.ts'

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
    secrets: secretKeys,
  })
  issues.push(...config.issues)
  const { source, value } = config
  if (source === null) return { file, yaml: null, agent: null, issues, issueAt: issueOfFile }
  const issueAt = (at: Path, message: string) => source.issueAt(at, 'value', message)
  if (value === null) return { file, yaml: null, agent: null, issues, issueAt }

  const warnings: ConfigIssue[] = []
  const defined = defineAgent(value, {
    directory: dirname(resolve(file)),
    env,
    files,
    defaults: options.defaults ?? agentDefaults,
    report: (at, message) => void issues.push(issueAt(at, message)),
    warn: (at, message) => void warnings.push(issueAt(at, message)),
    written: config.written,
  })
  const isRight = issues.length === 0
  const agent = isRight ? { ...defined, source: { path: resolve(file), text: maskedSource(content.text) } } : defined
  if (isRight) options.located?.(agent.name, issueAt)
  if (isRight) {
    for (const { at, message } of ineffectiveConditions(value, agent.tools)) warnings.push(issueAt(at, message))
    for (const warning of warnings) options.warn?.(warning)
  }
  return { file, yaml: isRight ? value : null, agent: isRight ? agent : null, issues, issueAt }
}

// Finds conditions that change nothing. `when` adds to the other rules, so it has no effect if those already ask about every call.
// The author probably wants the other calls to run, and must say so with `otherwise: run`.

interface IneffectiveConditions {
  /** Path of the key with the conditions. */
  at: Path
  message: string
}

const ADVICE = 'Write otherwise: run next to when to let the other calls run, or remove when.'

function ineffectiveConditions(yaml: AgentYaml, tools: readonly ToolSettings[]): IneffectiveConditions[] {
  const agentRule = yaml.approval.default
  const found: IneffectiveConditions[] = []
  const look = (name: string, rule: ApprovalRule | undefined, risk: Risk, isGuess: boolean, at: Path) => {
    if (rule?.ask !== 'when' || rule.otherwise === 'run') return
    const reason = reasonToAsk(agentRule, name, risk)
    if (reason === null) return
    const unless = isGuess ? ' unless it only reads' : ''
    const message = `${reason}${unless}, so these conditions change nothing. ${ADVICE}`
    found.push({ at: [...at, 'approval'], message })
  }
  for (const [index, tool] of yaml.tools.entries()) {
    const settings = tools[index]
    if (settings === undefined || tool.type === 'client') continue
    const isGuess = mayRead(settings)
    look(tool.name, tool.approval, settings.risk, isGuess, ['tools', index])
    if (tool.type !== 'mcp' || settings.type !== 'mcp') continue
    for (const [name, rules] of Object.entries(tool.tools)) {
      const { risk } = settings.tools[name] ?? {}
      const at = ['tools', index, 'tools', name]
      look(name, rules.approval, risk ?? settings.risk, isGuess && risk === undefined, at)
    }
  }
  if (agentRule.ask === 'when' && agentRule.otherwise === 'default') {
    const names = tools.filter((tool) => tool.approval === null && isAtLeast(tool.risk, 'high')).map(({ name }) => name)
    if (names.length > 0) {
      const reason = `every call of ${names.join(', ')} needs approval because of its risk`
      found.push({ at: ['approval', 'default'], message: `${reason}, so these conditions change nothing. ${ADVICE}` })
    }
  }
  return found
}

/** Why the agent's default rule asks about the other calls of a tool anyway; null if it does not. */
function reasonToAsk(agentRule: ApprovalRule, tool: string, risk: Risk): string | null {
  const byRisk = `every call of ${tool} needs approval because its risk is ${risk}`
  switch (agentRule.ask) {
    case 'never':
      return null
    case 'always':
      return `every call of ${tool} needs approval because approval.default is always`
    case 'policy':
      return `the policy decides about the calls of ${tool}`
    case 'risk':
      return isAtLeast(risk, agentRule.atLeast) ? byRisk : null
    case 'when':
      return agentRule.otherwise === 'default' && isAtLeast(risk, 'high') ? byRisk : null
  }
}

/** Whether a server or an OpenAPI document may still say that a tool only reads. */
function mayRead(tool: ToolSettings): boolean {
  if (tool.type === 'mcp') return tool.trustHints && tool.written.length === 0
  return tool.type === 'openapi' && tool.written.length === 0
}
