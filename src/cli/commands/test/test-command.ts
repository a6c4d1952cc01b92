import { Command } from 'commander'
import { appDefaults } from '../../../app/app-options.ts'
import type { CommandKnowledge } from '../../../app/knowledge/open-command-knowledge.ts'
import { agentPaths, type LoadedConfig, loadConfig } from '../../../app/load-config.ts'
import { createServerLog } from '../../../app/server-log.ts'
import { openTestEngine } from '../../../app/test-engine.ts'
import { variable } from '../../../config/source/env-file.ts'
import { isSpan, secondsOf } from '../../../config/source/schema-key.ts'
import type { AgentDefinition } from '../../../domain/agent/agent.ts'
import type { Logger } from '../../../domain/logger.ts'
import type { AgentCase, CaseResult } from '../../../evaluation/case-result.ts'
import { runCases } from '../../../evaluation/run-cases.ts'
import { usageError } from '../../cli-error.ts'
import type { CommandContext } from '../../command.ts'
import { exitCodes } from '../../exit-codes.ts'
import type { Io } from '../../terminal/io.ts'
import { terminalLine } from '../../terminal/terminal-text.ts'
import { endProcess } from '../serve/start-app.ts'
import { createTestProgress, jsonReport, junitReport, openTestReport, testTable } from './report.ts'

interface TestFlags {
  filter?: string
  parallel: string
  timeout?: string
  junit?: string
  json?: boolean
  config?: string
}

export function createTestCommand({ version, io, settle }: CommandContext): Command {
  return new Command('test')
    .summary('run the test cases of agent files')
    .description(
      'Runs the test_cases of agent files: sends the input of each case to the agent, and checks which tools it calls and what it ' +
        'answers. Each case has its own session in memory, so a running server is not disturbed. The agent uses its real model and ' +
        'its real tools.',
    )
    .argument('[files...]', 'agent files or folders (default: agent.yaml in this folder)')
    .option('--filter <text>', 'only cases with this text in their name')
    .option('--parallel <number>', 'how many cases run at once', '4')
    .option('--timeout <time>', 'how long one case may take, like 90s (default: what the case says)')
    .option('--junit <file>', 'write the results as JUnit XML; - is standard output')
    .option('--json', 'the results as one JSON object; the table then goes to standard error')
    .option('--config <file>', 'the settings file (default: quarterdeck.yaml here or beside the agent)')
    .addHelpText(
      'after',
      `
Exit code 0: every case passed. 1: a case did not pass. 2: there is nothing to run, or it cannot be run.
A call that a person must approve fails its case, unless the case answers it (approvals). Ctrl-C stops and shows the results so far.

A case in agent.yaml:
  test_cases:
    - name: knows the weather
      input: How is the weather in Bergen?
      tools: [{ name: get_weather, arguments: { city: Bergen } }]
      contains: rain
    - name: asks before it pays
      input: Pay Ada 5 euros.
      approvals: [{ tool: pay, decision: reject, reason: Not today. }]

Examples:
  $ quarterdeck test
  $ quarterdeck test agents/ --filter refund --parallel 8
  $ quarterdeck test agent.yaml --junit reports/agent.xml`,
    )
    .action(async (files: string[], options: TestFlags) => settle(await runTests(files, options, version, io)))
}

async function runTests(files: readonly string[], options: TestFlags, version: string, io: Io): Promise<number> {
  const parallel = countOf(options.parallel)
  const timeoutMs = spanOf(options.timeout)
  if (options.json === true && options.junit === '-') {
    throw usageError('--json and --junit - cannot share standard output.', ['Give --junit a file.'])
  }
  const flags = { 'log.level': variable(io.env, 'QUARTERDECK_LOG_LEVEL') ?? 'error' }
  const config = loadConfig({ files, flags, settingsFile: options.config }, io)
  if (agentPaths(files, io).length === 0) {
    throw usageError('There is no agent.yaml in this folder. Test cases are part of agent files.', [
      'Create an agent with quarterdeck init, or name a file: quarterdeck test path/to/agent.yaml',
    ])
  }
  const cases = chosenCases(config.agents, options.filter).map(({ agent, testCase }) => ({
    agent,
    testCase: { ...testCase, timeoutMs: timeoutMs ?? testCase.timeoutMs },
  }))
  // Before the first case, so that a file that cannot be written costs no model calls.
  const reports = [
    { write: await openTestReport(options.junit, io), format: junitReport },
    { write: await openTestReport(options.json === true ? '-' : undefined, io), format: jsonReport },
  ]

  const began = io.clock.mono()
  const { results, stoppedBy } = await runUntilStopped(cases, config, version, parallel, io)
  if (results === null) return stoppedBy ?? exitCodes.interrupted.code
  const durationMs = io.clock.mono() - began
  for (const { write, format } of reports) await write?.(format(results, durationMs))
  const out = options.json === true || options.junit === '-' ? io.stderr : io.stdout
  out.write(testTable(results, durationMs, out, io.env))
  if (stoppedBy !== null) return stoppedBy
  return results.every(({ outcome }) => outcome === 'passed') ? exitCodes.ok.code : exitCodes.failed.code
}

/** The first signal stops the running cases and shows the results so far. The second leaves at once, without results. */
async function runUntilStopped(
  cases: readonly AgentCase[],
  config: LoadedConfig,
  version: string,
  parallel: number,
  io: Io,
): Promise<{ results: CaseResult[] | null; stoppedBy: number | null }> {
  const stop = new AbortController()
  let stoppedBy: number | null = null
  const left = Promise.withResolvers<null>()
  const progress = createTestProgress(cases.length, io)
  const stopListening = io.onSignal((signal) => {
    stoppedBy = signal === 'SIGINT' ? exitCodes.interrupted.code : exitCodes.terminated.code
    if (stop.signal.aborted) return left.resolve(null)
    stop.abort()
    progress.clear()
    io.stderr.write('Stopping.\n')
  })
  const run = async (): Promise<CaseResult[]> => {
    const log = createServerLog(config, io)
    await using documents = await openDocuments(config, { version, log }, stop.signal, io)
    await using target = await openTestEngine({
      ...appDefaults(io.clock),
      agents: config.agents,
      settings: config.settings,
      version,
      log,
      knowledge: documents?.knowledge ?? null,
      exit: (code) => endProcess(code, io),
    })
    return await runCases(cases, target, {
      parallel,
      stop: stop.signal,
      onBegin: ({ testCase }) => progress.begin(testCase.name),
      onResult: progress.result,
    })
  }
  try {
    const results = await Promise.race([run(), left.promise])
    return { results, stoppedBy }
  } finally {
    progress.clear()
    stopListening()
  }
}

/** Reading documents that takes longer is said. */
const PATIENCE_MS = 1_000

/** The indexes of the data directory, brought up to date, so that nothing is read or embedded twice. Null: the tests have their own. */
async function openDocuments(
  { agents, settings, dataDir }: LoadedConfig,
  { version, log }: { version: string; log: Logger },
  signal: AbortSignal,
  io: Io,
): Promise<CommandKnowledge | null> {
  if (!agents.some(({ tools }) => tools.some(({ type }) => type === 'knowledge'))) return null
  const { openCommandKnowledge } = await import('../../../app/knowledge/open-command-knowledge.ts')
  const { clock } = io
  const open = (readOnly: boolean): Promise<CommandKnowledge> =>
    openCommandKnowledge({ ...{ agents, settings, dataDir, version, clock, log, readOnly, onProgress() {} } })
  await using undo = new AsyncDisposableStack()
  const own = undo.use(await open(false))
  if (!own.isReadOnly) {
    const cancel = clock.after(PATIENCE_MS, () => void io.stderr.write('Reading the documents of the agents first.\n'))
    try {
      // Whoever stops the tests gets what there is.
      for (const index of own.knowledge.all)
        if (!signal.aborted) await index.update(signal).catch(unlessStopped(signal))
    } finally {
      cancel()
    }
    if (settings.store === ':memory:') {
      undo.move()
      return own
    }
  }
  // A server may start meanwhile.
  await undo.disposeAsync()
  await using reading = new AsyncDisposableStack()
  const kept = reading.use(await open(true))
  const found = await Promise.all(kept.knowledge.all.map((index) => index.status()))
  // The server that keeps the indexes has other agents. Then the tests read the documents themselves.
  if (own.isReadOnly && found.some(({ passages }) => passages === 0)) return null
  reading.move()
  return kept
}

const unlessStopped =
  (signal: AbortSignal) =>
  (error: unknown): void => {
    if (!signal.aborted) throw error
  }

function chosenCases(loaded: readonly AgentDefinition[], filter: string | undefined): AgentCase[] {
  // A sub-agent is tested together with the agent that uses it. Its own cases run only if its file is named.
  const agents = loaded.filter(({ internal }) => !internal)
  const all = agents.flatMap((agent) => agent.testCases.map((testCase) => ({ agent: agent.name, testCase })))
  if (all.length === 0) {
    const names = agents.map(({ name }) => name).join(', ')
    const [who, have] = agents.length === 1 ? [`The agent ${names}`, 'has'] : [`The agents ${names}`, 'have']
    throw usageError(`${who} ${have} no test cases.`, [
      'Add some to the agent file, for example:',
      '  test_cases:',
      '    - { name: greets, input: Hello, contains: hello, ignore_case: true }',
    ])
  }
  const wanted = filter?.toLowerCase() ?? ''
  const chosen = all.filter(({ testCase }) => testCase.name.toLowerCase().includes(wanted))
  if (chosen.length > 0) return chosen
  const names = all.slice(0, 20).map(({ testCase }) => terminalLine(testCase.name, 60))
  throw usageError(`No test case has ${JSON.stringify(filter)} in its name.`, [
    `There are: ${names.join(', ')}${all.length > 20 ? ', …' : ''}`,
  ])
}

function countOf(text: string): number {
  const count = Number(text)
  if (Number.isInteger(count) && count >= 1 && count <= 100) return count
  throw usageError(`--parallel ${JSON.stringify(text)}: expected a whole number from 1 to 100.`)
}

function spanOf(text: string | undefined): number | null {
  if (text === undefined) return null
  const span = /^\d+$/.test(text) ? Number(text) : text
  if (isSpan(span, false)) return secondsOf(span) * 1000
  throw usageError(`--timeout ${JSON.stringify(text)} is not a time.`, ['Write 90s or 5m, for example.'])
}
