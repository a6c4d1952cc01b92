// Hundreds of clients of a door in one process. Every stream is checked to its last event.
//   node bench/load.ts --url http://127.0.0.1:8000/ --parallel 20 --runs 1000 | --seconds 5 [--message full] [--tokens 200]
//                      [--threads 0] [--thread name] [--prefix name] [--ramp 0] [--stall 30] [--door ag-ui] [--start-at http://127.0.0.1:8001/]
// Prints one JSON object: a `LoadReport`.

import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { isLoadDoor, type LoadAsk, type LoadDoorName, loadDoors } from './door.ts'
import { createLoadConnection, type LoadConnection } from './load-connection.ts'
import { type Percentiles, percentilesOf } from './percentiles.ts'
import { createStreamCheck } from './stream-check.ts'
import { monotonicMicros } from './token.ts'

export interface LoadOptions {
  url: string
  door: LoadDoorName
  /** How many streams are open at the same time. */
  parallel: number
  /** Stop after this many runs in total, or start no new run after `seconds`. One of the two must be set. */
  runs?: number
  seconds?: number
  /** The user's message, which tells the fake model how to answer. */
  message: string
  /** How many tokens each answer must have. */
  tokens: number
  /** 0: every run has its own thread. Otherwise the runs use this many threads in turn, never one thread twice at once. */
  threads: number
  /** One thread for all runs, which then come one after the other. It may already exist. With `threads`: the beginning of their names. */
  thread?: string
  /** Prefix for the names of threads and runs, so that two loads on one server use different names. */
  prefix: string
  /** Spreads the start of the first streams over this time, so that their tokens do not all come at the same moment. */
  rampMs: number
  /** A stream that sends nothing for longer than this has failed. */
  stallMs: number
  /** Another server of the same store. The runs are sent to it, and again to `url` as soon as they have begun: that answer is checked. */
  startAt?: string
}

export interface LoadReport {
  runs: number
  failed: number
  /** How often each failure happened. */
  failures: Record<string, number>
  tokens: number
  /** Events with text of the answer. Fewer than tokens when the server merges deltas. */
  contentEvents: number
  seconds: number
  /** Time from the model's write to the client's read, for tokens that carry a time. */
  delayMs: Percentiles | null
  /** Time from the request to the first event of its answer. */
  firstEventMs: Percentiles | null
  /** CPU time of the load process itself. Near `seconds`, it was the bottleneck, not the server. */
  cpuSeconds: number
}

export async function runLoad(options: LoadOptions): Promise<LoadReport> {
  const { parallel, threads } = options
  if (options.runs === undefined && options.seconds === undefined) throw new Error('Give --runs or --seconds.')
  if (threads % parallel !== 0) throw new Error(`--threads must be a multiple of --parallel ${parallel}`)
  if (options.thread !== undefined && parallel !== 1) throw new Error('--thread needs --parallel 1')

  const door = loadDoors[options.door]
  const delays: number[] = []
  const firsts: number[] = []
  const failures: Record<string, number> = {}
  const total = { runs: 0, failed: 0, tokens: 0, contentEvents: 0 }
  const started = performance.now()
  const deadline = options.seconds === undefined ? Number.POSITIVE_INFINITY : started + options.seconds * 1000
  const maxRuns = options.runs ?? Number.POSITIVE_INFINITY
  const readBuffer = Buffer.alloc(65_536)
  const connections: LoadConnection[] = []
  const watchdog = setInterval(() => {
    for (const connection of connections) connection.expire(options.stallMs)
  }, options.stallMs / 10)
  let begun = 0

  async function worker(index: number): Promise<void> {
    if (options.rampMs > 0) await delay((options.rampMs * index) / parallel)
    const connection = createLoadConnection(options.url, door, readBuffer)
    const starter = options.startAt === undefined ? null : createLoadConnection(options.startAt, door, readBuffer)
    connections.push(connection, ...(starter === null ? [] : [starter]))
    for (let turn = 0; begun < maxRuns && performance.now() < deadline; turn += 1) {
      const run = begun
      begun += 1
      const thread = threads === 0 ? run : index + parallel * (turn % (threads / parallel))
      const input = JSON.stringify(door.body(askOf(options, thread, run)))
      // A reader that comes later first gets what it has missed. That is not late.
      let since = starter === null ? 0 : null
      const asked = performance.now()
      const check = createStreamCheck(
        options.tokens,
        (sentAt) => {
          const now = monotonicMicros()
          since ??= now
          if (sentAt >= since) delays.push((now - sentAt) / 1000)
        },
        () => firsts.push(performance.now() - asked),
      )
      const begins = starter === null ? null : startRun(starter, input, options.tokens)
      await begins?.started
      const seen = await connection.run(input, check)
      const problem = seen ?? (await begins?.ended) ?? null
      total.runs += 1
      total.tokens += check.tokens
      total.contentEvents += check.contentEvents
      if (problem !== null) {
        total.failed += 1
        failures[problem] = (failures[problem] ?? 0) + 1
      }
    }
    connection.close()
    starter?.close()
  }

  await Promise.all(Array.from({ length: parallel }, (_, index) => worker(index)))
  clearInterval(watchdog)
  const { user, system } = process.cpuUsage()
  return {
    ...total,
    failures,
    seconds: (performance.now() - started) / 1000,
    delayMs: percentilesOf(delays),
    firstEventMs: percentilesOf(firsts),
    cpuSeconds: (user + system) / 1e6,
  }
}

/** `started` resolves with the first event, or when the run fails before it. */
function startRun(starter: LoadConnection, input: string, tokens: number) {
  const { promise: started, resolve } = Promise.withResolvers<void>()
  const check = createStreamCheck(tokens, () => {})
  const ended = starter.run(input, {
    event(event) {
      resolve()
      check.event(event)
    },
    end: () => check.end(),
    get tokens() {
      return check.tokens
    },
    get contentEvents() {
      return check.contentEvents
    },
  })
  void ended.then(() => resolve())
  return { started, ended }
}

function askOf({ prefix, message, thread, threads }: LoadOptions, number: number, run: number): LoadAsk {
  const numbered = `${thread ?? prefix}-${number}`
  const name = thread === undefined || threads > 0 ? numbered : thread
  return { thread: name, run: `${prefix}-r${run}`, message }
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      url: { type: 'string' },
      parallel: { type: 'string', default: '1' },
      runs: { type: 'string' },
      seconds: { type: 'string' },
      message: { type: 'string', default: 'full' },
      tokens: { type: 'string', default: '200' },
      threads: { type: 'string', default: '0' },
      thread: { type: 'string' },
      prefix: { type: 'string', default: `load-${process.pid}` },
      ramp: { type: 'string', default: '0' },
      stall: { type: 'string', default: '30' },
      door: { type: 'string', default: 'ag-ui' },
      'start-at': { type: 'string' },
    },
  })
  if (values.url === undefined) throw new Error('Name the server: --url http://127.0.0.1:8000/')
  if (!isLoadDoor(values.door)) throw new Error(`--door must be one of ${Object.keys(loadDoors).join(', ')}`)
  const report = await runLoad({
    url: values.url,
    door: values.door,
    parallel: Number(values.parallel),
    ...(values.runs === undefined ? {} : { runs: Number(values.runs) }),
    ...(values.seconds === undefined ? {} : { seconds: Number(values.seconds) }),
    message: `${values.message} tokens:${values.tokens}`,
    tokens: Number(values.tokens),
    threads: Number(values.threads),
    ...(values.thread === undefined ? {} : { thread: values.thread }),
    prefix: values.prefix,
    rampMs: Number(values.ramp),
    stallMs: Number(values.stall) * 1000,
    ...(values['start-at'] === undefined ? {} : { startAt: values['start-at'] }),
  })
  process.stdout.write(`${JSON.stringify(report)}\n`)
}
