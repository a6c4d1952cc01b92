import { Command } from 'commander'
import { agentPaths, type LoadedConfig, loadConfig } from '../../app/load-config.ts'
import { ConfigError, type ConfigIssue, formatIssue, issueWithoutLine } from '../../config/config-error.ts'
import { type AgentDefinition, answersWith, modelName } from '../../domain/agent/agent.ts'
import { scheduleId } from '../../domain/agent/schedule.ts'
import type { Skill } from '../../domain/agent/skill.ts'
import type { KnowledgeToolSettings } from '../../domain/agent/tool-settings.ts'
import { ServerError } from '../../domain/errors.ts'
import { silentLogger } from '../../domain/logger.ts'
import { createKeychain } from '../../operators/credentials/keychain.ts'
import { checkAgents, hostWarnings, missingCommands, scheduleWarnings, toolCount } from '../check-agents.ts'
import { type CheckFlags, type CommandContext, examples } from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import type { Io } from '../terminal/io.ts'
import { styleFor } from '../terminal/style.ts'
import { counted, localTime, sizeText } from '../terminal/terminal-text.ts'

export function createValidateCommand({ version, io, settle }: CommandContext): Command {
  return new Command('validate')
    .summary('check agent files and settings without starting anything')
    .description(
      'Finds what serve would refuse: mistakes in agent files, in the code and documents of their tools and in quarterdeck.yaml, and ' +
        'missing keys. Reports all mistakes with file and line. Loads function files; starts nothing else.',
    )
    .argument('[files...]', 'agent files or folders (default: agent.yaml in this folder)')
    .option('--config <file>', 'the settings file (default: quarterdeck.yaml here or beside the agent)')
    .option('--json', 'the result as one JSON object')
    .addHelpText('after', examples('validate', 'validate agents/ --json'))
    .action(async (files: string[], options: CheckFlags) => settle(await validate(files, options, version, io)))
}

export async function validate(
  files: readonly string[],
  options: CheckFlags,
  version: string,
  io: Io,
): Promise<number> {
  let agents: AgentDefinition[] = []
  let issues: readonly ConfigIssue[] = []
  let warnings: string[] = []
  try {
    const config = loadConfig({ files, flags: {}, settingsFile: options.config }, io)
    issues = nothingHere(files, config, io) ?? (await refused(config, version, io))
    if (issues.length === 0) agents = config.agents
    const missing = [
      ...missingCommands(config, io),
      ...(await hostWarnings(config, io)),
      ...(await scheduleWarnings(config, io)),
    ]
    warnings = [...config.warnings, ...missing.map(formatIssue)]
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    issues = error.issues
  }
  const ok = issues.length === 0
  if (options.json) {
    io.stdout.write(`${JSON.stringify({ ok, agents: agents.map(summary), issues, warnings })}\n`)
    return ok ? exitCodes.ok.code : exitCodes.usage.code
  }
  const style = styleFor(io.stdout, io.env)
  const errorStyle = styleFor(io.stderr, io.env)
  for (const agent of agents) {
    io.stdout.write(`${style.green('ok')}  ${describe(agent)}\n`)
    for (const skill of agent.skills ?? []) io.stdout.write(`      skill ${skillLine(skill)}\n`)
    for (const line of await documentLines(agent)) io.stdout.write(`      ${line}\n`)
    for (const line of await scheduleLines(agent, io)) io.stdout.write(`      ${line}\n`)
  }
  for (const issue of issues) io.stderr.write(`${formatIssue(issue)}\n`)
  for (const warning of warnings) io.stderr.write(`${errorStyle.yellow('warning:')} ${warning}\n`)
  if (ok) return exitCodes.ok.code
  io.stderr.write(`\n${errorStyle.red(counted(issues.length, 'problem'))}\n`)
  return exitCodes.usage.code
}

/** What each tool would read, and who would get it. */
async function documentLines({ tools }: AgentDefinition): Promise<string[]> {
  const found = tools.filter((tool) => tool.type === 'knowledge')
  if (found.length === 0) return []
  const { scanSources } = await import('../../knowledge/update/scan-sources.ts')
  return await Promise.all(
    found.map(async (tool) => {
      const { files, problems } = await scanSources(tool, [], new AbortController().signal)
      const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
      const left = problems.length === 0 ? '' : `, ${problems.length} of them cannot be read`
      return `${tool.name}: ${counted(files.length + problems.length, 'file')}, ${sizeText(bytes)}${left}; ${await whoEmbeds(tool)}`
    }),
  )
}

async function whoEmbeds({ embedding }: KnowledgeToolSettings): Promise<string> {
  if (embedding === null) return 'words only, nothing is sent'
  const { embeddingPlace } = await import('../../models/embedding/embedding-place.ts')
  const place = embeddingPlace(embedding)
  if (place === null) return `words, and meaning by ${embedding.provider}, which sends nothing`
  return `sends the text of these documents to ${place} to embed them`
}

const MOST_SHOWN = 3

/** When each schedule comes next, if the server started now. */
async function scheduleLines({ name: agent, schedules = [] }: AgentDefinition, { clock }: Io): Promise<string[]> {
  if (schedules.length === 0) return []
  const { delayOf, timesOf } = await import('../../schedules/times.ts')
  return schedules.map((one) => {
    const { next } = timesOf(one, clock.now())
    const delay = delayOf(scheduleId(agent, one.name), one.jitterMs)
    const coming: number[] = []
    for (let at = next(clock.now()); at !== null && coming.length < MOST_SHOWN; at = next(at)) coming.push(at + delay)
    const zone = one.times.type === 'cron' ? one.times.timeZone : 'UTC'
    const shown = coming.map((at) => localTime(at, zone).slice(0, 16)).join(', ')
    return `schedule ${one.name}: ${shown === '' ? 'never again' : `next ${shown} (${zone})`}`
  })
}

/** Null if there is something to check: a file, or an agent that the environment describes. */
function nothingHere(files: readonly string[], { agents }: LoadedConfig, io: Io): ConfigIssue[] | null {
  if (agentPaths(files, io).length > 0 || agents.some(({ model }) => model?.provider !== 'demo')) return null
  const message =
    'there is nothing to check: this folder has no agent.yaml, and the environment names no model. ' +
    'Create an agent with quarterdeck init, or name a file: quarterdeck validate path/to/agent.yaml'
  return [issueWithoutLine(message)]
}

/** What a start would refuse, all together if possible. */
async function refused(config: LoadedConfig, version: string, io: Io): Promise<ConfigIssue[]> {
  const issues = await checkAgents(config, { version, io, reload: null })
  if (issues.length > 0) return issues
  const { agents, settings, dataDir } = config
  const exit = (): never => {
    throw new Error('an app that was not started ends no process')
  }
  const { createApp } = await import('../../app/app.ts')
  const { appDefaults } = await import('../../app/app-options.ts')
  try {
    const app = await createApp({
      ...appDefaults(io.clock),
      agents,
      settings,
      dataDir,
      version,
      log: silentLogger,
      exit,
      // The secrets have left the environment of the process by now.
      credentials: { keychain: createKeychain(io.clock), env: io.env },
    })
    await app.close({ drainMs: 0 })
    return []
  } catch (error) {
    if (!(error instanceof ServerError)) throw error
    return [issueWithoutLine(error.message)]
  }
}

const summary = (agent: AgentDefinition) => ({
  name: agent.name,
  default: agent.default,
  internal: agent.internal,
  model: modelName(answersWith(agent)),
  tools: agent.tools.length,
  skills: (agent.skills ?? []).map(({ name, files, bytes }) => ({ name, files: files.length, bytes })),
})

const skillLine = ({ name, files, bytes }: Skill): string =>
  `${name}: SKILL.md${files.length === 0 ? '' : ` and ${counted(files.length, 'file')}`}, ${Math.ceil(bytes / 1_000)} kB`

function describe(agent: AgentDefinition): string {
  const { name, model } = summary(agent)
  const role = agent.internal ? ' (sub-agent)' : ''
  if (agent.host !== null) return `${name}${role}: ${agent.host.name} in ${agent.host.workspace}`
  const tools = `${toolCount(agent.tools)}${agent.memory === true ? ', memory' : ''}`
  return `${name}${role}: ${model}, ${tools}, ${agent.instructions.length} characters of instructions`
}
