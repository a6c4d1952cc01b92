// Clients of a door by the hundred in one process. Every stream is checked to its last event.
//   node bench/load.ts --url http://127.0.0.1:8000/ --parallel 20 --runs 1000 | --seconds 5 [--message full] [--tokens 200]
//                      [--threads 0] [--thread name] [--prefix name] [--ramp 0] [--stall 30] [--door ag-ui]
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
  /** Streams open at the same time. */
  parallel: number
  /** Stop after this many runs in all, or start none after `seconds`, whichever is set. */
  runs?: number
  seconds?: number
  /** What the user says; the fake model takes its orders from it. */
  message: string
  /** Tokens each answer must have. */
  tokens: number
  /** 0: every run in a thread of its own. Otherwise this many threads, used in turn, never twice at once. */
  threads: number
  /** The one thread of all runs, which then come one after the other; it may exist already. */
  thread?: string
  /** Begins the names of threads and runs, so that two loads on one server do not meet. */
  prefix: string
  /** The first streams start spread over this time, as real ones do, so that their tokens do not fall together. */
  rampMs: number
  /** A stream that is silent for longer has failed. */
  stallMs: number
}

export interface LoadReport {
  runs: number
  failed: number
  /** What went wrong, and how often. */
  failures: Record<string, number>
  tokens: number
  /** Events with text of the answer; fewer than tokens when the server merges. */
  contentEvents: number
  seconds: number
  /** Model's write to client's read, of the tokens that carry a time. */
  delayMs: Percentiles | null
  /** Of the load process itself: near `seconds` it, not the server, was the bottleneck. */
  cpuSeconds: number
}

export async function runLoad(options: LoadOptions): Promise<LoadReport> {
  const { parallel, threads } = options
  if (options.runs === undefined && options.seconds === undefined) throw new Error('say --runs or --seconds')
  if (threads % parallel !== 0) throw new Error(`--threads must be a multiple of --parallel ${parallel}`)
  if (options.thread !== undefined && parallel !== 1) throw new Error('--thread goes with --parallel 1')

  const door = loadDoors[options.door]
  const delays: number[] = []
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
    connections.push(connection)
    for (let turn = 0; begun < maxRuns && performance.now() < deadline; turn += 1) {
      const run = begun
      begun += 1
      const thread = threads === 0 ? run : index + parallel * (turn % (threads / parallel))
      const check = createStreamCheck(options.tokens, (sentAt) => delays.push((monotonicMicros() - sentAt) / 1000))
      const problem = await connection.run(JSON.stringify(door.body(askOf(options, thread, run))), check)
      total.runs += 1
      total.tokens += check.tokens
      total.contentEvents += check.contentEvents
      if (problem !== null) {
        total.failed += 1
        failures[problem] = (failures[problem] ?? 0) + 1
      }
    }
    connection.close()
  }

  await Promise.all(Array.from({ length: parallel }, (_, index) => worker(index)))
  clearInterval(watchdog)
  const { user, system } = process.cpuUsage()
  return {
    ...total,
    failures,
    seconds: (performance.now() - started) / 1000,
    delayMs: percentilesOf(delays),
    cpuSeconds: (user + system) / 1e6,
  }
}

function askOf({ prefix, message, thread }: LoadOptions, number: number, run: number): LoadAsk {
  return { thread: thread ?? `${prefix}-t${number}`, run: `${prefix}-r${run}`, message }
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
    },
  })
  if (values.url === undefined) throw new Error('say what to load: --url http://127.0.0.1:8000/')
  if (!isLoadDoor(values.door)) throw new Error(`--door is one of ${Object.keys(loadDoors).join(', ')}`)
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
  })
  process.stdout.write(`${JSON.stringify(report)}\n`)
}
