import { Command } from 'commander'
import { ConfigError, type ConfigIssue, formatIssue } from '../config/config-error.ts'
import type { AgentDefinition } from '../domain/agent.ts'
import { exitCodes } from './exit-codes.ts'
import type { Io, Settle } from './io.ts'
import { loadConfig } from './load-config.ts'
import { styleFor } from './style.ts'
import { toolCount } from './tool-count.ts'

export interface ValidateOptions {
  config?: string
  json?: boolean
}

export function createValidateCommand(io: Io, settle: Settle): Command {
  return new Command('validate')
    .summary('check agent files and settings without starting anything')
    .description(
      'Reads agent files and quarterdeck.yaml and reports everything that is wrong, with file, line and column.',
    )
    .argument('[files...]', 'agent files or folders (default: agent.yaml in this folder)')
    .option('--config <file>', 'the settings file (default: quarterdeck.yaml here or beside the agent)')
    .option('--json', 'the result as one JSON object')
    .addHelpText(
      'after',
      `
Examples:
  $ quarterdeck validate
  $ quarterdeck validate agents/ --json`,
    )
    .action(async (files: string[], options: ValidateOptions) => settle(validate(files, options, io)))
}

export function validate(files: readonly string[], options: ValidateOptions, io: Io): number {
  let agents: AgentDefinition[] = []
  let issues: readonly ConfigIssue[] = []
  let warnings: string[] = []
  try {
    const settingsFile = options.config === undefined ? {} : { settingsFile: options.config }
    ;({ agents, warnings } = loadConfig({ files, flags: {}, ...settingsFile }, io))
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    issues = error.issues
  }
  const ok = issues.length === 0
  if (options.json) {
    io.stdout.write(`${JSON.stringify({ ok, agents: agents.map(summary), issues, warnings })}\n`)
  } else if (ok) {
    const style = styleFor(io.stdout, io.env)
    for (const agent of agents) io.stdout.write(`${style.green('ok')}  ${describe(agent)}\n`)
    for (const warning of warnings) io.stderr.write(`${styleFor(io.stderr, io.env).yellow('warning:')} ${warning}\n`)
  } else {
    for (const issue of issues) io.stderr.write(`${formatIssue(issue)}\n`)
    const problems = issues.length === 1 ? '1 problem' : `${issues.length} problems`
    io.stderr.write(`\n${styleFor(io.stderr, io.env).red(problems)}\n`)
  }
  return ok ? exitCodes.ok.code : exitCodes.usage.code
}

const summary = (agent: AgentDefinition) => ({
  name: agent.name,
  default: agent.default,
  internal: agent.internal,
  model: `${agent.model.provider}/${agent.model.name}`,
  tools: agent.tools.length,
})

function describe(agent: AgentDefinition): string {
  const { name, model } = summary(agent)
  const role = agent.internal ? ' (sub-agent)' : ''
  return `${name}${role}: ${model}, ${toolCount(agent.tools)}, ${agent.instructions.length} characters of instructions`
}
