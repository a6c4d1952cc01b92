import { networkInterfaces } from 'node:os'
import { Command, Help, Option } from 'commander'
import { type LoadedConfig, loadConfig } from '../../../app/load-config.ts'
import { createServerLog } from '../../../app/server-log.ts'
import { ConfigError } from '../../../config/config-error.ts'
import type { SettingFlags, SettingKey } from '../../../config/settings/settings.ts'
import { recordReading } from '../../../config/source/config-files.ts'
import { hasCode } from '../../../domain/errors.ts'
import { type Logger, silentLogger } from '../../../domain/logger.ts'
import { spelled } from '../../../domain/settings/program-words.ts'
import { isPostgres, shownStore } from '../../../domain/settings/store-settings.ts'
import { createLogTap, type LogTap } from '../../../http/logging/log-tap.ts'
import type { TerminalLogOptions } from '../../../http/logging/terminal-log.ts'
import { onLocalhost } from '../../../operators/console-link.ts'
import { checkAgents } from '../../check-agents.ts'
import type { CommandContext } from '../../command.ts'
import { addSettingFlags, settingFlagsOf, shortFlagTexts } from '../../setting-flags.ts'
import type { Io } from '../../terminal/io.ts'
import { styleFor } from '../../terminal/style.ts'
import { dataDirFlag } from '../ctl/ctl-place.ts'
import { type BannerFacts, banner, shownUrl } from './banner.ts'
import { isPortInUse, portInUse } from './port-in-use.ts'
import type { RunningApp, StartApp } from './start-app.ts'
import { unlessStopped, untilStopped } from './stop.ts'
import { type Started, watchAndRestart, watchTargets } from './watch.ts'

interface ServeRequest {
  files: readonly string[]
  flags: SettingFlags
  config?: string
  /** Restarts when an agent's files or the settings file change. */
  watch?: boolean
  /** At a terminal: show every log line, with ids. */
  verbose?: boolean
}

/** What `--help` shows of the settings. `--help-all` shows the rest. */
const everyday: Partial<Record<SettingKey, string>> = {
  host: 'address to listen on',
  port: 'port to listen on; 0 picks any free one',
  open: 'open the browser when the server is ready',
  protocols: 'open doors, such as ag-ui,openai',
  allowed_hosts: 'names that clients call it by',
  'cors.origins': 'web pages that may call it',
  'auth.mode': 'whether talking needs a token',
  data_dir: 'folder for database and files',
  store: 'sqlite, :memory: or postgres://…',
  'sessions.retention_days': 'days that an unused session is kept',
  'log.level': 'debug, info, warn, error or silent',
}

export function createServeCommand({ version, startApp, io, settle }: CommandContext): Command {
  const command = new Command('serve')
    .summary('serve agents over AG-UI and HTTP')
    .description(
      'Serves agents until you stop it. Without a file it serves agent.yaml of this folder, otherwise the agent that the environment ' +
        'describes (LLM_PROVIDER, LLM_MODEL, OPENAI_API_KEY, …), otherwise the built-in demo agent.',
    )
    .argument('[files...]', 'agent files or folders')
    .option('--config <file>', 'the settings file (default: quarterdeck.yaml here or beside the agent)')
    .option('--watch', 'restart, on the same port, when an agent’s files or the settings file change')
    .option('--verbose', 'at a terminal: show every log line, with ids')
  shortenHelp(command, new Map(shortFlagTexts(everyday)))
  return addSettingFlags(command)
    .addHelpText(
      'after',
      `
Flags win over the environment, and the environment wins over quarterdeck.yaml.
Tokens are never flags: quarterdeck tokens makes them.

Examples:
  $ quarterdeck serve
  $ quarterdeck serve agent.yaml --port 8080 --open
  $ quarterdeck serve agent.yaml --watch
  $ quarterdeck serve agents/ --host 0.0.0.0 --allowed-hosts agent.example.com`,
    )
    .action(async (files: string[], given: Omit<ServeRequest, 'files' | 'flags'>) => {
      settle(await serve({ ...given, files, flags: settingFlagsOf(command) }, version, startApp, io))
    })
}

/** Starts a server, prints its addresses and runs until it is stopped. */
export async function serve(request: ServeRequest, version: string, startApp: StartApp, io: Io): Promise<number> {
  const began = io.clock.mono()
  let read: string[] = []
  const warned = new Set<string>()
  let answerUrl: TerminalLogOptions['answerUrl'] = () => null
  let log: Logger = silentLogger
  let running: Started | null = null
  const logOf = (config: LoadedConfig, tap: LogTap) =>
    createServerLog(config, io, {
      verbose: request.verbose === true,
      answerUrl: (sessionId) => answerUrl(sessionId),
      tap,
    })
  function load(): LoadedConfig {
    const reading = recordReading()
    try {
      const { files, flags, config } = request
      return loadConfig({ files, flags, source: reading.source, settingsFile: config }, io)
    } finally {
      read = reading.paths()
    }
  }
  async function check(config: LoadedConfig, reload: number): Promise<void> {
    const issues = await checkAgents(config, { version, io, reload })
    if (issues.length > 0) throw new ConfigError(issues)
  }
  async function start(config: LoadedConfig, reload: number): Promise<Started> {
    const style = styleFor(io.stderr, io.env)
    const logTap = createLogTap()
    log = logOf(config, logTap)
    for (const warning of config.warnings) {
      if (warned.has(warning)) continue
      warned.add(warning)
      if (isForPrograms(config)) log.warn(warning)
      else io.stderr.write(`${style.yellow('warning:')} ${spelled(warning, io.program())}\n`)
    }
    const more = { logTap, ...(request.watch ? { reload } : {}) }
    const app = await startApp(config, log, io, more).catch(async (error: unknown) => {
      const { hosts, port } = config.settings
      if (isPortInUse(error)) throw await portInUse(hosts, port)
      // A start says what is wrong, and not where.
      if (hasCode(error, 'config_invalid')) await check(config, reload)
      throw error
    })
    const url = shownUrl(app.url, networkInterfaces())
    const page = consoleAddress({ app, config, url })
    answerUrl = (sessionId) => (page === null ? `${url}/approvals` : `${page}/chat/${sessionId}`)
    running = { app, config, url, reload }
    return running
  }

  // Before there is a log, nothing runs that could warn.
  const stopListening = io.onWarning((text) => log.warn(text))
  const first = await unlessStopped(async () => start(load(), 0), io)
  if (typeof first === 'number') return first
  const { app, url, config } = first
  const { settings } = config
  const server = request.watch
    ? watchAndRestart(first, { load, check, start, targets: (now) => watchTargets(request.files, now, read, io), io })
    : app
  // Before the banner: whoever reads that the server is ready may stop it at once.
  const say = isForPrograms(config) ? [(text: string) => log.info(text)] : []
  const printsLinks = consoleAddress(first) !== null && io.stdin.isTTY === true && io.stdout.isTTY === true
  const stopped = untilStopped(server, settings.shutdown.drainMs, log, io, ...say)
  io.stdout.write(
    banner(
      {
        version,
        url,
        console: await consoleOf(first, io),
        agents: config.agents,
        unconfined: app.unconfined,
        protocols: app.doors,
        keptIn: keptIn(config),
        token: app.madeToken,
        tokenRequired: settings.auth.required,
        operator: operatorOf(app),
        dataDirFlag: dataDirFlag(config.dataDir, io),
        hasEnter: printsLinks,
        readyMs: io.clock.mono() - began,
      },
      io,
    ),
  )
  log.info('ready', { url, version, agents: config.agents.map(({ name }) => name) })
  if (request.watch) io.stdout.write(watchNote(settings.store))
  // Without a code: other users could see it in the arguments of the browser's program, and use it first.
  if (settings.open) io.openUrl(consoleAddress(first) ?? url)
  const stopReading = printsLinks ? io.onEnter(oneByOne(() => printLink(running ?? first, io), log)) : () => {}
  return await stopped.finally(() => {
    stopReading()
    stopListening()
  })
}

async function printLink(started: Started, io: Io): Promise<void> {
  const link = await consoleOf(started, io)
  if (link !== null) io.stdout.write(`  Open  ${link}\n`)
}

/** Calls that come while `work` is at it do nothing: somebody leans on the key. */
function oneByOne(work: () => Promise<void>, log: Logger): () => void {
  let isAtIt = false
  return () => {
    if (isAtIt) return
    isAtIt = true
    work()
      .catch((error: unknown) => log.warn('no link to the console could be made', { error }))
      .finally(() => {
        isAtIt = false
      })
  }
}

/** Standard error is for a program, so every line is JSON. */
const isForPrograms = ({ settings: { log } }: LoadedConfig): boolean => log.format === 'json' && log.level !== 'silent'

/** Null: only programs use this server. */
function consoleAddress({ app, config: { settings }, url }: Pick<Started, 'app' | 'config' | 'url'>): string | null {
  if (!settings.console || app.doors.every((door) => door === 'rest')) return null
  const base = settings.channels.publicUrl ?? (settings.loopback ? onLocalhost(url) : url)
  return `${base}/console`
}

/** Like tokens, a code must not end up in a file or a pipe. */
async function consoleOf(started: Started, io: Io): Promise<string | null> {
  const address = consoleAddress(started)
  return address !== null && io.stdout.isTTY === true
    ? `${address}#code=${await started.app.newConsoleCode()}`
    : address
}

function operatorOf({ operatorToken, madeToken, hasOperator }: RunningApp): BannerFacts['operator'] {
  if (operatorToken !== null) return 'set'
  if (madeToken !== null) return 'made'
  return hasOperator ? 'kept' : 'none'
}

/** Null: in memory. */
const keptIn = ({ settings: { store }, dataDir }: LoadedConfig): string | null =>
  store === ':memory:' ? null : isPostgres(store) ? shownStore(store.url) : dataDir

function watchNote(store: LoadedConfig['settings']['store']): string {
  const memory = store === ':memory:' ? ' The store is in memory: each restart begins without sessions.' : ''
  return `Watching the agents’ files; a change restarts the server.${memory}\n`
}

/**
 * Makes `--help` fit on one screen: of the flags that have a heading, it shows only those of `texts`, in a line each and without the
 * heading. A new flag `--help-all` prints them all.
 */
function shortenHelp(command: Command, texts: ReadonlyMap<string, string>): Command {
  let isWhole = false
  const createHelp = command.createHelp.bind(command)
  command.createHelp = () => {
    const help = createHelp()
    // Only what is printed is shorter: commander looks for the flag that a typing mistake may mean among the visible ones.
    help.formatHelp = (of, helper) => {
      const options = isWhole ? helper.visibleOptions(of) : shortened(helper.visibleOptions(of), texts)
      return Help.prototype.formatHelp.call(helper, of, Object.assign(helper, { visibleOptions: () => options }))
    }
    return help
  }
  return command.option('--help-all', 'print all flags, with their variables').on('option:help-all', () => {
    isWhole = true
    command.help()
  })
}

const shortened = (options: Option[], texts: ReadonlyMap<string, string>): Option[] =>
  options.flatMap((option) => {
    if (option.helpGroupHeading === undefined) return [option]
    const text = texts.get(option.long ?? '')
    return text === undefined ? [] : [new Option(option.flags, text)]
  })
