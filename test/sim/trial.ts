// One trial: a world out of a seed, a time of faults, then calm, then the verdict.

import type { AgentDefinition, HostAgent, ModelAgent } from '../../src/domain/agent/agent.ts'
import { createIds } from '../../src/domain/ids.ts'
import { checkers } from './checkers/checkers.ts'
import { type ClientOptions, talk } from './client.ts'
import { createCluster } from './cluster/cluster.ts'
import { type ClusterFaults, drawClusterFaults } from './cluster/cluster-faults.ts'
import { createTakeoverWatch } from './cluster/takeover.ts'
import { workIn } from './elsewhere/agents.ts'
import { command } from './elsewhere/operators.ts'
import { drawElsewhere } from './elsewhere/world.ts'
import { type Evidence, judge, readDisk } from './evidence.ts'
import { drawFaults, type Faults } from './faults.ts'
import { createHistory, type Finding } from './history.ts'
import { drawHosted, type HostedWorld, WORKSPACE } from './hosted/world.ts'
import { createKernel } from './kernel.ts'
import { litter } from './litter.ts'
import type { Mutant } from './mutant.ts'
import { unleash } from './nemesis.ts'
import { createNet } from './net.ts'
import { answerCalls, decideOn } from './people.ts'
import type { Wall } from './process.ts'
import { createRandom, type Random } from './random.ts'
import { createServer, type ServerStats } from './server.ts'
import { createStarvationWatch } from './starvation.ts'

export interface TrialOptions {
  seed: number
  mutant?: Mutant | null
  /** Changes the faults that were drawn, to find out which of them matter. */
  adjust?: (faults: Faults) => void
  strict?: boolean
  /** Agents elsewhere and their operators, in place of clients. */
  elsewhere?: boolean
  /** One to three replicas on a database, in place of one process on a disk. */
  replicas?: boolean
  /** The agent works in a program of its own, beside replicas too. */
  hosted?: boolean
  onLine?: (line: string) => void
}

export interface Trial {
  seed: number
  /** Of everything that could be seen. The same seed and code give the same hash. */
  hash: string
  findings: Finding[]
  faults: Faults
  lines: readonly string[]
  stats: TrialStats
  evidence: Evidence
}

export interface TrialStats {
  simulatedMs: number
  items: number
  crashes: number
  runs: number
  entries: number
  shown: number
  resumes: number
  asked: number
  decided: number
  consumed: number
  /** Calls of agents elsewhere that were answered. */
  called: number
  /** What programs of hosted agents did with a yes, and the files that were written for them. */
  acts: number
  writes: number
}

const STEP_MS = 500
const CALM_MS = 30_000
/** P3: a run that a crash interrupted has an owner, or an end, 10 s after the restart, which may take a moment itself. */
const OWNED_AFTER_MS = 14_000
/** The same for a run of a replica that died, which may have renewed its lease just before. */
const TAKEN_AFTER_MS = 17_000
const CLUSTER_CALM_MS = 45_000

export async function runTrial(options: TrialOptions): Promise<Trial> {
  const {
    seed,
    mutant = null,
    adjust,
    strict,
    elsewhere: isElsewhere = mutant?.elsewhere !== undefined,
    replicas = mutant?.cluster !== undefined,
    hosted: isHosted = mutant?.hosted !== undefined,
    onLine,
  } = options
  const random = createRandom(seed)
  const faults = drawFaults(random.fork('faults'))
  if (replicas) faults.cluster = forReplicas(faults, drawClusterFaults(random.fork('cluster')))
  mutant?.faults?.(faults)
  if (faults.cluster !== null) mutant?.cluster?.(faults.cluster)
  adjust?.(faults)
  const kernel = createKernel({
    random: random.fork('order'),
    ...(strict === undefined ? {} : { strict }),
    ...(onLine === undefined ? {} : { onLine }),
  })
  const history = createHistory()
  const wall: Wall = { offset: 0 }
  const elsewhere = isElsewhere ? drawElsewhere(random.fork('elsewhere')) : null
  if (elsewhere !== null) mutant?.elsewhere?.(elsewhere)
  const hosted = isHosted ? drawHosted(random.fork('hosted')) : null
  if (hosted !== null) {
    // The protocol cannot carry them.
    faults.people.edits = 0
    mutant?.hosted?.(hosted)
  }
  const modelAgent = drawAgent(random.fork('agent'), faults)
  const definition: AgentDefinition = hosted === null ? modelAgent : asHosted(modelAgent, hosted)
  /** Where people command coding agents. */
  const commanded = hosted?.supervision ?? elsewhere
  let calm = false
  const isCalm = () => calm
  const shared = { kernel, faults, history, isCalm }
  const serverDeps = {
    ...shared,
    random: random.fork('server'),
    wall,
    definition,
    toolTimeoutMs: random.fork('tools').between(200, 2_000),
    mutant,
    elsewhere,
    hosted,
  }
  const cluster = faults.cluster === null ? null : createCluster(serverDeps, faults.cluster)
  const server = cluster ?? createServer(serverDeps)
  const net = createNet({ ...shared, random: random.fork('net'), faults: faults.net, server })
  const starvation = createStarvationWatch(
    kernel,
    history,
    net,
    cluster === null ? 0 : faults.disk.callFails > 0 ? 5_000 : 2_000,
  )
  const takeovers =
    cluster === null
      ? null
      : createTakeoverWatch(kernel, history, cluster, { callsFail: faults.disk.callFails > 0, isHosted })
  const report = (error: unknown) =>
    history.findings.push({
      checker: 'bug',
      message: error instanceof Error ? (error.stack ?? error.message) : `${error}`,
    })
  const onUnhandled = (error: unknown) => void report(error)
  process.on('unhandledRejection', onUnhandled)

  server.boot()
  unleash({ ...shared, random: random.fork('nemesis'), server, cluster, wall })
  const unfinished = new Set<string>()
  for (const options of elsewhere === null
    ? drawClients(random.fork('clients'), hosted === null ? 'local_user' : 'ann')
    : []) {
    unfinished.add(options.name)
    talk({ ...shared, random: random.fork(options.name), net }, options)
      .then(() => unfinished.delete(options.name))
      .catch(report)
  }

  if (commanded === null && random.fork('litter').chance(0.25)) {
    const name = 'litter'
    unfinished.add(name)
    litter({ ...shared, random: random.fork(name), net }, { name, owner: 'local_user', sessions: 4 })
      .then(() => unfinished.delete(name))
      .catch(report)
  }

  const peopleDeps = { ...shared, net, faults: faults.people }
  if (commanded === null && (faults.offers.gated || faults.offers.agents)) {
    for (const name of ['o0', 'o1']) decideOn({ ...peopleDeps, random: random.fork(name) }, name).catch(report)
  }
  if (commanded !== null) {
    const deps = { ...shared, net, world: commanded }
    for (const options of commanded.windows) {
      unfinished.add(options.name)
      workIn({ ...deps, random: random.fork(options.name) }, options)
        .then(() => unfinished.delete(options.name))
        .catch(report)
    }
    for (const name of ['o0', 'o1']) {
      command({ ...deps, people: faults.people, random: random.fork(name) }, name).catch(report)
    }
  }
  if (commanded === null && faults.offers.client)
    answerCalls({ ...peopleDeps, random: random.fork('caller') }, 'caller').catch(report)

  async function pass(until: number): Promise<void> {
    for (let time = kernel.time + STEP_MS; time <= until; time += STEP_MS) {
      await kernel.advance(time)
      starvation.look()
      await takeovers?.look()
    }
  }

  async function findOrphans(): Promise<string[]> {
    return (await server.orphans()).map(({ id }) => id)
  }

  try {
    const length = random.fork('length')
    await pass(cluster === null ? length.between(3_000, 12_000) : length.between(6_000, 25_000))
    calm = true
    kernel.trace('calm')
    server.fill(false)
    cluster?.heal()
    const calmAt = kernel.time
    await pass(calmAt + (cluster === null ? OWNED_AFTER_MS : TAKEN_AFTER_MS))
    const orphans = await findOrphans()
    await pass(kernel.time + STEP_MS)
    const still = new Set(await findOrphans())
    for (const id of orphans.filter((one) => still.has(one))) {
      history.findings.push({ checker: 'liveness', message: `nobody sees to run ${id}` })
    }
    await pass(calmAt + (cluster === null ? CALM_MS : CLUSTER_CALM_MS))
  } catch (error) {
    report(error)
  }
  const counted = server.stats()
  if (counted.length === 0) history.findings.push({ checker: 'liveness', message: 'no server is running' })
  else checkIdle(counted, net.streams.size, history.findings)
  // Rejections that nobody handled are reported once the event loop turns.
  await new Promise((resolve) => setImmediate(resolve))
  process.off('unhandledRejection', onUnhandled)

  const left = readDisk(server.disk)
  const evidence: Evidence = { history, faults, definition, elsewhere, hosted, unfinished: [...unfinished], ...left }
  const findings = [...history.findings, ...judge(checkers, evidence)]
  const stats = statsOf(evidence, kernel.time, kernel.items)
  return { seed, hash: kernel.hash, findings, faults, lines: kernel.lines, stats, evidence }
}

function checkIdle(counted: readonly ServerStats[], streams: number, findings: Finding[]): void {
  const sum = (key: keyof ServerStats) => counted.reduce((total, one) => total + one[key], 0)
  const seen = {
    activeRuns: sum('activeRuns'),
    queuedRuns: sum('queuedRuns'),
    readers: sum('readers'),
    watchers: sum('watchers'),
  }
  const wanted = { activeRuns: 0, queuedRuns: 0, readers: streams, watchers: streams }
  if (JSON.stringify(seen) === JSON.stringify(wanted)) return
  const message = `at rest the engine counts ${JSON.stringify(seen)}, not ${JSON.stringify(wanted)}`
  findings.push({ checker: 'liveness', message })
}

/** The database has no sync that fails, and its wall clock does not jump: those of replicas do not agree with it. */
function forReplicas(faults: Faults, cluster: ClusterFaults): ClusterFaults {
  faults.wallJumpEveryMs = null
  faults.disk.syncFails = 0
  faults.process.cutsInSync = 0
  return cluster
}

function drawClients(random: Random, owner: string): ClientOptions[] {
  const ids = createIds(
    () => 1_800_000_000_000,
    (size) => random.bytes(size),
  )
  const threads = Array.from({ length: random.between(1, 3) }, (_, i) =>
    random.chance(0.3) ? ids.uuid() : `thread-${i}`,
  )
  return Array.from({ length: random.between(1, 5) }, (_, i) => {
    const mine = threads.filter(() => random.chance(0.6))
    return {
      name: `c${i}`,
      owner,
      threads: [mine[0] ?? threads[0] ?? 'thread-0', ...mine.slice(1)],
      messages: random.between(1, 6),
    }
  })
}

function drawAgent(random: Random, { people, offers }: Faults): ModelAgent {
  return {
    name: 'sim',
    description: 'The agent of the simulator.',
    directory: '.',
    default: true,
    internal: false,
    instructions: 'You are a test.',
    model: {
      provider: 'sim',
      name: 'sim',
      contextWindow: 128_000,
      retries: 0,
      firstTokenTimeoutMs: 60_000,
      tokenTimeoutMs: 60_000,
    },
    host: null,
    tools: [],
    responseFormat: null,
    limits: {
      steps: random.between(2, 8) + (offers.agents ? 4 : 0),
      tokens: random.chance(0.5) ? null : random.between(100, 800),
      durationMs: random.between(2_000, 12_000),
      cost: null,
      toolCalls: random.between(3, 14),
      identicalCalls: random.between(1, 3),
      parallelCalls: random.between(1, 8),
      toolResultChars: 50_000,
      answerChars: 1_000_000,
      storedMessageChars: 1_000_000,
    },
    context: { maxMessages: 50, mode: 'window' },
    sessions: { ttlSeconds: 1_800, onExpiry: 'continue', retentionDays: 30, onBusy: null },
    approval: {
      default: { ask: 'never' },
      policy: [],
      by: random.pick(['operator', 'owner']),
      expiresSeconds: people.expiresSeconds,
    },
    testCases: [],
    judge: null,
    summarizer: null,
  }
}

/** The same agent, in a program. */
function asHosted(
  { model: _, limits, sessions, ...agent }: ModelAgent,
  { writes, ttlSeconds }: HostedWorld,
): HostAgent {
  return {
    ...agent,
    model: null,
    host: {
      ...{ name: 'custom', command: 'sim', args: [], env: [], writes, unconfined: false, network: false },
      workspace: WORKSPACE,
    },
    limits: { ...limits, steps: 1_000, toolCalls: 1_000 },
    sessions: { ...sessions, ttlSeconds },
  }
}

function statsOf({ history, sessions, runs, waits, hosted }: Evidence, simulatedMs: number, items: number): TrialStats {
  const views = history.readers.flatMap((reader) => reader.views)
  const sum = (counts: number[]) => counts.reduce((total, count) => total + count, 0)
  return {
    simulatedMs,
    items,
    crashes: history.lives.filter(({ end }) => end !== null && end !== 'restarted').length,
    runs: runs.size,
    entries: sum([...sessions.values()].map(({ log }) => log.length)),
    shown: sum(views.map(({ shown }) => shown.length)),
    resumes: sum(views.map(({ resumes }) => resumes.length)),
    asked: waits.size,
    decided: [...history.decisions, ...history.elsewhere.acts].filter(({ won }) => won === true).length,
    called: history.elsewhere.calls.filter(({ answer }) => answer !== null).length,
    acts: hosted?.acts.length ?? 0,
    writes: hosted?.files.writes.length ?? 0,
    consumed: [...waits.values()].filter(({ status }) => status === 'consumed').length,
  }
}
