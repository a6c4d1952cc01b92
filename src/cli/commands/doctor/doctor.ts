import { existsSync } from 'node:fs'
import { Command } from 'commander'
import { agentPaths, type LoadedConfig, loadConfig } from '../../../app/load-config.ts'
import { ConfigError, formatIssue } from '../../../config/config-error.ts'
import { readVersion } from '../../../config/version.ts'
import { spelled } from '../../../domain/settings/program-words.ts'
import { isPostgres } from '../../../domain/settings/store-settings.ts'
import { createKeychain } from '../../../operators/credentials/keychain.ts'
import { type CheckFlags, type CommandContext, examples } from '../../command.ts'
import { exitCodes } from '../../exit-codes.ts'
import { shellWord } from '../../program-name.ts'
import { addSettingFlags, settingFlagsOf } from '../../setting-flags.ts'
import type { Io } from '../../terminal/io.ts'
import { styleFor } from '../../terminal/style.ts'
import { terminalText } from '../../terminal/terminal-text.ts'
import type { Check } from './checks.ts'

export function createDoctorCommand({ io, settle }: CommandContext): Command {
  const command = new Command('doctor')
    .summary('look for what would keep a server from working')
    .description(
      'Checks Node, the configuration, the key, the model, the tools, the documents, the programs of hosted agents, the port, the data directory, the database, the channels, the disk and the clock. ' +
        'Starts MCP servers, asks them for their tools and stops them. Works beside a running server.',
    )
    .argument('[files...]', 'agent files or folders (default: agent.yaml in this folder)')
    .option('--config <file>', 'the settings file (default: quarterdeck.yaml here or beside the agent)')
    .option('--json', 'the result as one JSON object')
  return addSettingFlags(command, ['host', 'port', 'data_dir'])
    .addHelpText('after', examples('doctor', 'doctor agent.yaml --port 8080'))
    .action(async (files: string[], options: CheckFlags) =>
      settle(await doctor(files, options, settingFlagsOf(command), io)),
    )
}

export async function doctor(
  files: readonly string[],
  options: CheckFlags,
  flags: ReturnType<typeof settingFlagsOf>,
  io: Io,
): Promise<number> {
  const { checks, config, serverRuns } = await examine(files, options, flags, io)
  const ok = checks.every(({ status }) => status !== 'fail')
  const next = spelled(nextStep(checks, { files, options, flags, io, config, serverRuns }), io.program())
  if (options.json) io.stdout.write(`${JSON.stringify({ ok, checks, next })}\n`)
  else io.stdout.write(`${render(checks, io)}\nNext: ${terminalText(next)}\n`)
  return ok ? exitCodes.ok.code : exitCodes.failed.code
}

async function examine(
  files: readonly string[],
  options: CheckFlags,
  flags: ReturnType<typeof settingFlagsOf>,
  io: Io,
): Promise<{ checks: Check[]; config: LoadedConfig | null; serverRuns: boolean }> {
  const check = await import('./checks.ts')
  const checks = [check.checkNode(process.versions.node)]
  let config: LoadedConfig | null = null
  let serverRuns = false
  try {
    config = loadConfig({ files, flags, settingsFile: options.config }, io)
    const names = config.agents.map(({ name }) => name).join(', ')
    checks.push({ name: 'Config', status: 'ok', detail: `${config.agents.length === 1 ? 'agent' : 'agents'} ${names}` })
    for (const detail of config.warnings) checks.push({ name: 'Config', status: 'warn', detail })
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const mend = 'Fix it, then run quarterdeck validate.'
    checks.push(
      ...error.issues.map((issue): Check => ({ name: 'Config', status: 'fail', detail: formatIssue(issue), mend })),
    )
  }
  if (config !== null) {
    const { agents } = config
    const version = await readVersion()
    for (const agent of agents) {
      if (agent.host === null) checks.push(...(await check.checkModel(agent, version, io)))
      else checks.push(...(await check.checkHosted(agent, io)))
    }
    if (agents.some(({ tools }) => tools.length > 0)) {
      const { checkTools } = await import('./tool-checks.ts')
      const deps = { agents, version, proxyVariables: config.settings.tools.proxy, io, reload: null }
      for (const agent of agents) checks.push(...(await checkTools(agent, deps)))
    }
    if (agents.some(({ tools }) => tools.some(({ type }) => type === 'knowledge'))) {
      const { checkDocuments } = await import('./document-checks.ts')
      checks.push(...(await checkDocuments(config, version, io)))
    }
    const data: Awaited<ReturnType<typeof check.checkDataDir>> =
      config.settings.store === ':memory:'
        ? { check: { name: 'Data', status: 'ok', detail: 'in memory' }, inUse: false }
        : await check.checkDataDir(config.dataDir, isPostgres(config.settings.store))
    serverRuns = data.inUse
    checks.push(await check.checkPort(config.settings, serverRuns), data.check)
    if (isPostgres(config.settings.store)) checks.push(await check.checkDatabase(config.settings.store.url, io.clock))
    const { checkChannels } = await import('./channel-checks.ts')
    const { systemLookup } = await import('../../../tools/http/service/service-http.ts')
    const { configDir, dataDir } = config
    checks.push(
      ...(await checkChannels(config.settings, {
        sources: { keychain: createKeychain(io.clock), env: io.env },
        kept: configDir === null || !existsSync(dataDir) ? null : { configDir, dataDir },
        clock: io.clock,
        lookup: systemLookup,
      })),
    )
    if (config.settings.supervision.hostCli !== null) {
      checks.push(...(await check.checkHost(config.settings.supervision, io.env.PATH ?? '')))
    }
  }
  const place = config?.dataDir ?? io.cwd
  checks.push(await check.checkDisk(place), await check.checkClock(io.clock.now(), place))
  return { checks, config, serverRuns }
}

interface Asked {
  files: readonly string[]
  options: CheckFlags
  flags: ReturnType<typeof settingFlagsOf>
  io: Io
  config: LoadedConfig | null
  serverRuns: boolean
}

/** What to do after this: fix what keeps a server from starting, start it as it was checked, or use the one that runs. */
function nextStep(checks: readonly Check[], { files, options, flags, io, config, serverRuns }: Asked): string {
  const problems = checks.filter(({ status }) => status === 'fail')
  const [first] = problems.concat(checks.filter(({ name, status }) => name === 'Port' && status === 'warn'))
  if (first !== undefined) {
    const which = problems.length > 1 ? `${first.name} first, then the other lines with fail` : first.name
    return `fix ${which}, as it says above. Then run quarterdeck doctor again.`
  }
  const given = (key: string, value: unknown) => (value === undefined ? [] : [`--${key}`, String(value)])
  const dataDir = given('data-dir', flags.data_dir)
  if (serverRuns) {
    const [use, ...words] = config?.settings.console
      ? ['Open its console', 'console']
      : ['See what waits', 'ctl', 'list']
    return `the server runs. ${use}: ${commandOf([...words, ...dataDir])}`
  }
  const rest = [given('config', options.config), given('host', flags.host), given('port', flags.port), dataDir].flat()
  const serve = commandOf(['serve', ...files, ...rest])
  const isOwn = agentPaths(files, io).length > 0 || config?.agents.some(({ model }) => model?.provider !== 'demo')
  if (isOwn) return `start the server: ${serve}`
  return `make an agent with quarterdeck init, or try the built-in one: ${serve}`
}

const commandOf = (words: readonly string[]): string => `quarterdeck ${words.map((word) => shellWord(word)).join(' ')}`

function render(checks: readonly Check[], io: Io): string {
  const style = styleFor(io.stdout, io.env)
  const marks = { ok: style.green('ok  '), warn: style.yellow('warn'), fail: style.red('fail') }
  const lines = checks.flatMap(({ name, status, detail, mend }) => [
    `${marks[status]}  ${name.padEnd(6)}  ${terminalText(detail)}`,
    ...(mend === undefined ? [] : [`              ${style.dim(`→ ${terminalText(spelled(mend, io.program()))}`)}`]),
  ])
  return `${lines.join('\n')}\n`
}
