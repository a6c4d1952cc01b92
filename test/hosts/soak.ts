// The real hosts work through a list of tasks, again and again, while the server is stopped or killed and started again. A person answers
// over HTTP. In the end one line says what happened, and the test fails if a call hung, an alert came, or something was done twice.
//
// MINUTES: how long. RESTART_SECONDS (300): how often the server is restarted, by turns with SIGTERM and kill -9.

import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { type Host, hosts, programOf } from './hosts.ts'
import { connectHost, type Script } from './run-host.ts'
import type { Step } from './scripted-model.ts'
import { startSupervisor } from './supervisor.ts'
import type { TimedCall } from './timed-bridge.ts'

const MINUTES = Number(process.env.MINUTES ?? 60)
const RESTART_MS = Number(process.env.RESTART_SECONDS ?? 300) * 1_000
/** The promise. */
const MOST_MS = 5_000
/** How long the model thinks. */
const THINK_MS = 5_000
const LOOK_MS = 300
/** Hosts end their last task, then themselves. */
const LAST_MS = 180_000
const timeout = MINUTES * 60_000 + LAST_MS + 300_000

test(`${MINUTES} minutes`, { timeout }, async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'quarterdeck-soak-')))
  const home = join(folder, 'home')
  const configDir = join(home, '.config', 'quarterdeck')
  mkdirSync(configDir, { recursive: true, mode: 0o700 })
  const supervisor = await startSupervisor({ home, configDir, settings: { max_concurrent_sessions: 8 } })
  const ends: (() => void)[] = []
  onTestFinished(async () => {
    for (const end of ends) end()
    await supervisor.close()
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  })

  /** When a server was told to go, was gone and was back; and when a person answered, by session. */
  const downs: Down[] = []
  const answers = new Map<string, number[]>()
  const stop = new AbortController()
  const operator = answerAll(supervisor, answers, stop.signal)

  const connected = await Promise.all(
    hosts
      .filter((host) => programOf(host) !== null)
      .map(async (host) => {
        const workspace = join(folder, host.name)
        mkdirSync(workspace)
        const { end, start } = await connectHost(host, { home, workspace, connectArgs: [] })
        ends.push(end)
        const log = join(folder, `${host.name}.jsonl`)
        timeBridge(home, host, log)
        return { host, workspace, log, start }
      }),
  )
  const until = Date.now() + MINUTES * 60_000
  const working = await Promise.all(
    connected.map(async ({ host, start, ...places }) => {
      const work = createWork(host, until)
      return { host, work, ...places, ended: (await start(work.script)).ended }
    }),
  )

  let restarts = 0
  while (Date.now() + RESTART_MS < until) {
    await sleep(RESTART_MS)
    const told = Date.now()
    await (restarts % 2 === 0 ? supervisor.stop() : supervisor.kill())
    const down = { told, gone: Date.now(), back: Number.POSITIVE_INFINITY }
    downs.push(down)
    await supervisor.restart()
    down.back = Date.now()
    restarts += 1
  }
  await sleep(until - Date.now())

  const late = sleep(LAST_MS).then(() => null)
  const finished = await Promise.all(working.map(({ ended }) => Promise.race([ended, late])))
  stop.abort()
  await operator

  const sessions = await sessionsByFolder(supervisor)
  const beyond = working.flatMap(({ host, workspace, log }) => {
    const answered = (sessions[workspace] ?? []).flatMap((id) => answers.get(id) ?? [])
    return callsIn(log).map((call) => ({ host: host.name, ...call, beyondMs: beyondOf(call, downs, answered) }))
  })
  const alerts = itemsOf(await supervisor.get('/alerts?status=all&limit=100'), 'alerts')
  const consumed = (await allApprovals(supervisor)).filter(({ status }) => status === 'consumed')
  const twice = [
    ...repeated(consumed.filter(({ kind }) => kind === 'diff').map(({ title }) => String(title))),
    ...working.flatMap(({ workspace }) => repeated(linesOf(join(workspace, 'deeds.txt')))),
  ]
  const counts = {
    calls: beyond.length,
    restarts,
    longest_beyond_ms: Math.max(0, ...beyond.map(({ beyondMs }) => beyondMs)),
    hanging: beyond.filter(({ beyondMs }) => beyondMs > MOST_MS).length,
    alerts: alerts.length,
    sessions: Object.fromEntries(working.map(({ host, workspace }) => [host.name, (sessions[workspace] ?? []).length])),
    done_twice: twice.length,
    rounds: Object.fromEntries(working.map(({ host, work }) => [host.name, work.rounds()])),
    ended_early: working.filter(({ work }) => !work.isOver()).map(({ host }) => host.name),
    not_ended: working.filter((_, i) => finished[i] === null).map(({ host }) => host.name),
  }
  process.stdout.write(`SOAK ${JSON.stringify(counts)}\n`)
  const longest = beyond.toSorted((a, b) => b.beyondMs - a.beyondMs).slice(0, 3)
  process.stdout.write(`The longest: ${JSON.stringify(longest)}\nThe restarts: ${JSON.stringify(downs)}\n`)

  const wrong = beyond.filter(({ beyondMs }) => beyondMs > MOST_MS)
  const early = finished.flatMap((one, i) => (working[i]?.work.isOver() ? [] : [one?.output.slice(-2_000)]))
  expect({ wrong, alerts, twice, early }).toEqual({
    wrong: [],
    alerts: [],
    twice: [],
    early: [],
  })
  expect(counts).toMatchObject({
    hanging: 0,
    sessions: Object.fromEntries(working.map(({ host }) => [host.name, 1])),
    not_ended: [],
  })
  expect(Math.min(...working.map(({ work }) => work.rounds()))).toBeGreaterThan(0)
})

/** The tasks of one host. A call that was told to come again does so. */
function createWork(host: Host, until: number): { script: Script; rounds(): number; isOver(): boolean } {
  let round = 0
  let place = 0
  let isOver = false
  let current: Step | undefined
  let answered = -1
  const own = (tool: string, input: Record<string, unknown>): Step => ({ call: host.ownTool(tool), input })
  const tasks: readonly ((last: string) => Step | null)[] = [
    () =>
      own('heartbeat', {
        status_message: `Round ${round}`,
        progress_snapshot: [{ label: 'Soak', status: 'in_progress' }],
      }),
    () => own('remote_log', { message: `${host.name} begins round ${round}.` }),
    () =>
      own('ask_approval', { title: `${host.name} ${round}`, file_path: `note-${round}.txt`, diff: `round ${round}\n` }),
    (last) => {
      const id = /request_id\\*":\s*\\*"([0-9a-f-]{36})/.exec(last)?.[1]
      return id === undefined ? null : own('accept_diff', { request_id: id })
    },
    () => own('forward_prompt', { prompt_text: `Shall ${host.name} go on after round ${round}?` }),
    () => host.shell(`echo round ${round} >> deeds.txt`),
    () => own('approve_tool', { tool_name: 'Bash', input: { command: `make ${round}` }, tool_use_id: `soak-${round}` }),
    () => own('wait_for_instruction', { message: `${host.name} has done round ${round}.` }),
  ]

  async function next(last: string): Promise<Step | undefined> {
    await sleep(THINK_MS)
    if (Date.now() > until) {
      isOver = true
      return undefined
    }
    if (mustAskAgain(last) && current !== undefined) return current
    for (;;) {
      const step = tasks[place]?.(last)
      place += 1
      if (step !== null && step !== undefined) return step
      if (place >= tasks.length) {
        place = 0
        round += 1
      }
    }
  }

  return {
    rounds: () => round,
    isOver: () => isOver,
    async script(results) {
      // A host repeats a request that broke off. One that has shortened its history has fewer results than before.
      if (results.length !== answered) {
        answered = results.length
        current = await next(results.at(-1) ?? '')
      }
      return current
    },
  }
}

/** Lost, still pending, or refused because there was no server. Something that was only told is not told twice. */
const mustAskAgain = (result: string): boolean =>
  /operator_unreachable|status\\*":\s*\\*"pending|could not be asked|send the same request again/.test(result)

type Supervisor = Awaited<ReturnType<typeof startSupervisor>>

/** A person who says yes to everything, whenever there is a server. */
async function answerAll(supervisor: Supervisor, answers: Map<string, number[]>, stop: AbortSignal): Promise<void> {
  const kinds = [
    {
      list: 'approvals',
      id: 'approval_id',
      query: 'status=pending',
      yes: (one: Item) => ({ decision: 'approve', digest: one.digest }),
    },
    { list: 'prompts', id: 'prompt_id', query: 'status=pending', yes: () => ({ decision: 'continue' }) },
    { list: 'waits', id: 'wait_id', query: 'status=waiting', yes: () => ({ instruction: 'Go on.' }) },
  ] as const
  while (!stop.aborted) {
    await sleep(LOOK_MS)
    for (const { list, id, query, yes } of kinds) {
      try {
        for (const one of itemsOf(await supervisor.get(`/${list}?${query}&limit=100`), list)) {
          await supervisor.post(`/${list}/${String(one[id])}`, yes(one))
          const session = String(one.session_id)
          answers.set(session, [...(answers.get(session) ?? []), Date.now()])
        }
      } catch {
        // The server is being restarted.
      }
    }
  }
}

type Item = Record<string, unknown>

const itemsOf = (body: unknown, key: string): Item[] => (body as Record<string, Item[]>)[key] ?? []

async function allApprovals(supervisor: Supervisor): Promise<Item[]> {
  const all: Item[] = []
  for (let before = ''; ; before = `&before=${String(all.at(-1)?.approval_id)}`) {
    const page = itemsOf(await supervisor.get(`/approvals?status=all&limit=100${before}`), 'approvals')
    all.push(...page)
    if (page.length < 100) return all
  }
}

/** The sessions that each folder has had. */
async function sessionsByFolder(supervisor: Supervisor): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {}
  const sessions = (await supervisor.get('/sessions?kind=supervised&limit=100')) as { session_id: string }[]
  for (const { session_id } of sessions) {
    const { workspace_root } = (await supervisor.session(session_id)).supervision
    found[workspace_root] = [...(found[workspace_root] ?? []), session_id]
  }
  return found
}

interface Down {
  told: number
  gone: number
  back: number
}

/**
 * How long a call stayed open after what should have ended it: the end of the server, or its answer. A host makes one call after the
 * other, so the last answer before the end of a call is its own.
 */
function beyondOf({ in: began, out }: TimedCall, downs: readonly Down[], answered: readonly number[]): number {
  const end = out ?? Date.now()
  const cut = downs.find(({ gone }) => gone > began && gone <= end)?.gone
  return end - (cut ?? Math.max(began, ...answered.filter((at) => at <= end)))
}

function callsIn(file: string): TimedCall[] {
  const calls = new Map<string, TimedCall>()
  for (const line of linesOf(file)) {
    const call = JSON.parse(line) as TimedCall
    calls.set(call.id, call)
  }
  return [...calls.values()]
}

const linesOf = (file: string): string[] =>
  existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []

const repeated = (all: readonly string[]): string[] => all.filter((one, i) => all.indexOf(one) !== i)

const CONFIGS: Record<Host['name'], readonly string[]> = {
  claude: ['.claude.json', '.claude/settings.json'],
  codex: ['.codex/config.toml'],
  copilot: ['.copilot/mcp-config.json', '.copilot/settings.json'],
  gemini: ['.gemini/settings.json'],
}

/** Puts `timed-bridge.ts` in front of the bridge, in JSON and TOML alike. */
function timeBridge(home: string, { name }: Host, log: string): void {
  const timer = join(import.meta.dirname, 'timed-bridge.ts')
  let isThere = false
  for (const path of CONFIGS[name].map((one) => join(home, one)).filter((one) => existsSync(one))) {
    const text = readFileSync(path, 'utf8')
    const timed = text.replace(/("[^"]*bin\/quarterdeck\.js")(\s*,\s*)"mcp"/g, `"${timer}"$2"${log}"$2$1$2"mcp"`)
    isThere ||= timed !== text
    writeFileSync(path, timed)
  }
  if (!isThere) throw new Error(`${name} does not start the bridge from ${CONFIGS[name].join(', ')} in ${homedir()}`)
}
