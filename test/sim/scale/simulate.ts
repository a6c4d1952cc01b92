// A large installation in virtual time: real engines, logs and wakes, on a database that is modelled. Models, clients and the CPU of
// the replicas cost nothing here.

import type { ScaleConstants } from '../../../bench/scale/constants.ts'
import type { Load } from '../../../bench/scale/cost-model.ts'
import { sleep } from '../../../src/domain/clock.ts'
import { silentLogger } from '../../../src/domain/logger.ts'
import type { Entry } from '../../../src/domain/session/entry.ts'
import type { AcceptedRun } from '../../../src/engine/ports/runs.ts'
import { createSharedPresence } from '../../../src/engine/sessions/shared-presence.ts'
import { openEngine } from '../../../src/engine/testing/open-engine.ts'
import { createNotifiedWake } from '../../../src/log/notified-wake.ts'
import { type Model, type ModelPart, type ModelRequest, streamOf } from '../../../src/models/model.ts'
import { createKernel, type Kernel } from '../kernel.ts'
import { createProcess, type SimProcess } from '../process.ts'
import { createRandom, type Random } from '../random.ts'
import { type Counts, createScaleDatabase, type ScaleDatabase } from './scale-database.ts'

export interface SimulateOptions {
  constants: ScaleConstants
  load: Load
  seed: number
  /** Streams begin one by one for so long, then the load settles for a while, then it is measured. */
  rampMs: number
  settleMs: number
  measureMs: number
  /** So many replicas die at once after that. */
  kills: number
  /** How long to wait for their runs. */
  afterMs: number
  progress?: (line: string) => void
}

export interface Simulated {
  /** In the time that was measured, for each second. */
  perSecond: Counts
  delaysMs: Float64Array
  /** The same for readers on another replica. */
  elsewhereMs: Float64Array
  /** From the death to the claim, for each run that was taken over. */
  takeoversMs: Float64Array
  /** Runs of the dead that nobody has taken over. */
  lost: number
  /** How many replicas took them, and the most that one of them took. */
  takers: { replicas: number; most: number }
  items: number
}

const START_MS = 3_000

interface Replica {
  process: SimProcess
  parts: ReturnType<typeof openEngine>
  name: string
}

export async function simulate(options: SimulateOptions): Promise<Simulated> {
  const { constants, load, seed, progress = () => {} } = options
  const random = createRandom(seed)
  const kernel = createKernel({ random: random.fork('kernel'), keep: 1 })
  const database = createScaleDatabase(kernel, constants, load.cores)
  const seen: Seen = { delays: [], elsewhere: [], isMeasured: false }
  const model = createTimedModel(kernel, load, random.fork('model'))
  const replicas: Replica[] = []
  // They begin at different times, so they do not poll and renew their leases in step.
  for (let i = 1; i <= load.replicas; i += 1) {
    kernel.after(random.float() * START_MS, () => {
      const replica = openReplica(kernel, database, model, i)
      replicas.push(replica)
      void replica.parts.engine.recover()
    })
  }
  await kernel.advance(START_MS + 500)
  const clients = random.fork('clients')
  for (let i = 0; i < load.streams; i += 1) {
    const client = { kernel, database, replicas, seen, random: clients.fork(String(i)), load }
    kernel.after(clients.float() * options.rampMs, () => void chat(client, `thread ${i}`))
  }
  const until = async (ms: number, what: string) => {
    await kernel.advance(kernel.time + ms)
    progress(`${(kernel.time / 1_000).toFixed(0)} s: ${what}, ${kernel.items} steps`)
  }
  await until(options.rampMs, 'all streams have begun')
  await until(options.settleMs, 'the load has settled')
  const before = database.counts()
  seen.isMeasured = true
  await until(options.measureMs, 'measured')
  seen.isMeasured = false
  const perSecond = rates(before, database.counts(), options.measureMs / 1_000)
  const died = kernel.time
  const dead = new Set<string>()
  // Any of them: those that began together renew their leases together.
  const order = new Map(replicas.map((one) => [one, random.float()]))
  const victims = replicas.toSorted((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0)).slice(0, options.kills)
  for (const one of victims) {
    for (const { id } of await database.ownedBy(one.name)) dead.add(id)
    one.process.kill()
  }
  await until(options.afterMs, 'the runs of the dead were taken over')
  const claims = database.claims.filter(({ runId, at }) => at >= died && dead.has(runId))
  const byOwner = Map.groupBy(claims, ({ owner }) => owner)
  return {
    perSecond,
    delaysMs: Float64Array.from(seen.delays).sort(),
    elsewhereMs: Float64Array.from(seen.elsewhere).sort(),
    takeoversMs: Float64Array.from(claims.map(({ at }) => at - died)).sort(),
    lost: dead.size - new Set(claims.map(({ runId }) => runId)).size,
    takers: { replicas: byOwner.size, most: Math.max(0, ...[...byOwner.values()].map((list) => list.length)) },
    items: kernel.items,
  }
}

function openReplica(kernel: Kernel, database: ScaleDatabase, model: Model, number: number): Replica {
  const process = createProcess(kernel, { offset: 0 }, number)
  const name = `replica-${number}`
  const { clock } = process
  const { store, rows, notifications } = database.connect(process)
  const wake = createNotifiedWake({ notifications, clock, replica: name, findOthers: () => rows.others(name) })
  const presence = createSharedPresence({
    rows,
    replica: name,
    clock,
    logger: silentLogger,
    isAlone: () => wake.isAlone,
  })
  const limits = { activeRuns: 1_000_000 }
  const sharing = { leaseOwner: name, isOnlyProcess: false, otherProcesses: () => wake.others }
  const parts = openEngine({ clock, store, wake, presence, model, limits, ...sharing })
  return { process, parts, name }
}

/** Says when each token was made, so that the reader knows how long it took. */
function createTimedModel(kernel: Kernel, load: Load, random: Random): Model {
  const everyMs = 1_000 / load.tokensPerSecond
  const known = new Set<string>()

  async function* parts(request: ModelRequest, signal: AbortSignal): AsyncGenerator<readonly ModelPart[]> {
    const isFirst = !known.has(request.sessionId)
    known.add(request.sessionId)
    // Streams that begin together must not end together.
    const tokens = Math.ceil(load.tokensPerRun * (isFirst ? random.float() : 0.5 + random.float()))
    const clock = { now: () => kernel.time, mono: () => kernel.time, after: kernel.after, soon: () => {} }
    const begun = kernel.time + random.float() * everyMs
    for (let i = 0; i < tokens && !signal.aborted; i += 1) {
      await sleep(clock, begun + i * everyMs - kernel.time, signal)
      if (!signal.aborted) yield [{ type: 'text', delta: ` ${kernel.time.toFixed(2)}` }]
    }
    if (signal.aborted) return
    yield [
      { type: 'usage', usage: { inputTokens: 20, outputTokens: tokens } },
      { type: 'finish', reason: 'stop' },
    ]
  }

  return { provider: 'sim', name: 'sim', stream: streamOf(parts), check: async () => {} }
}

interface Seen {
  delays: number[]
  elsewhere: number[]
  isMeasured: boolean
}

interface Client {
  kernel: Kernel
  database: ScaleDatabase
  replicas: readonly Replica[]
  seen: Seen
  random: Random
  load: Load
}

/** Somebody who asks again as soon as the answer is there. */
async function chat(client: Client, thread: string): Promise<void> {
  const { kernel, random, load } = client
  for (let n = 1; ; n += 1) {
    const home = choose(client)
    const accepted = await orDeath(home, ask(home, thread, n))
    if (accepted !== null) {
      const reader = random.chance(load.elsewhere) ? choose(client) : home
      await read(client, accepted, reader, home)
    }
    // A client that has lost its replica comes back soon.
    await kernel.sleep(accepted === null ? 500 : 1)
  }
}

async function ask({ parts }: Replica, thread: string, n: number): Promise<AcceptedRun> {
  const session = n === 1 ? null : await parts.engine.sessions.find('local_user', thread)
  return parts.start('Tell me.', {
    session: session === null ? { create: { alias: thread } } : { existing: session },
  })
}

async function read(client: Client, accepted: AcceptedRun, reader: Replica, home: Replica): Promise<void> {
  let after = 0
  for (let at = reader; ; at = choose(client)) {
    const follow = async () => {
      const leave = at === home ? () => {} : client.database.expectReader(at.process, accepted.session.id)
      const since = client.kernel.time
      const target = { sessionId: accepted.session.id, runId: accepted.run.id, after }
      for await (const batch of at.parts.engine.runs.follow(target, new AbortController().signal)) {
        after = batch.at(-1)?.seq ?? after
        note(client, batch, at === home, since)
      }
      leave()
      return true
    }
    if ((await orDeath(at, follow())) !== null) return
    await client.kernel.sleep(500)
  }
}

const TOKEN = /"delta":" ([\d.]+)"/

function note({ kernel, seen }: Client, batch: readonly Entry[], isHere: boolean, since: number): void {
  if (!seen.isMeasured) return
  for (const { data } of batch) {
    const made = Number(TOKEN.exec(data)?.[1] ?? Number.NaN)
    // What was there before the reader came has not waited for it.
    if (made >= since) (isHere ? seen.delays : seen.elsewhere).push(kernel.time - made)
  }
}

function choose({ replicas, random }: Client): Replica {
  const [first, ...others] = replicas.filter(({ process }) => process.alive)
  if (first === undefined) throw new Error('No replica lives.')
  return random.pick([first, ...others])
}

/** Null when the replica dies first: whoever waits for it hears nothing more. */
function orDeath<T>({ process }: Replica, work: Promise<T>): Promise<T | null> {
  return new Promise((resolve, reject) => {
    work.then(resolve, reject)
    process.onDeath(() => resolve(null))
  })
}

function rates(before: Counts, after: Counts, seconds: number): Counts {
  const per = (a: number, b: number) => (b - a) / seconds
  const rate = (key: Exclude<keyof Counts, 'cpuMs'>) => per(before[key], after[key])
  const cpuMs = Object.fromEntries(
    Object.entries(after.cpuMs).map(([task, ms]) => [task, per(before.cpuMs[task as keyof Counts['cpuMs']], ms)]),
  ) as Counts['cpuMs']
  return {
    tokens: rate('tokens'),
    groups: rate('groups'),
    syncedGroups: rate('syncedGroups'),
    decisions: rate('decisions'),
    finished: rate('finished'),
    wakes: rate('wakes'),
    heard: rate('heard'),
    walBytes: rate('walBytes'),
    cpuMs,
    longestLine: after.longestLine,
  }
}
