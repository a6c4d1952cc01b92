// The formulas of bench/SCALE.md: what a load costs and how long a token takes, from the constants that were measured.

import type { ScaleConstants } from './constants.ts'

export interface Load {
  replicas: number
  /** Runs that stream at any time. */
  streams: number
  /** Of one stream. */
  tokensPerSecond: number
  tokensPerRun: number
  /** Share of the streams that are read on another replica than the one that executes the run. */
  elsewhere: number
  /** Cores of the database server. */
  cores: number
  /** Changes to the program that nobody has made yet. */
  changes?: Changes
}

/** What bench/SCALE.md proposes against what breaks. */
export interface Changes {
  /** A run that ends wakes only the replicas that wait for its session. */
  targetedLooks?: boolean
  /** A wake reaches only the replicas that read one of its sessions, and nobody sends one that nobody needs. */
  targetedWakes?: boolean
  /** A busy log waits longer before it commits the next group of text. */
  groupMs?: number
}

/** What one replica does in a second, and how long its commits take. */
interface Pace {
  /** Commits, with and without decisions. */
  groups: number
  syncedGroups: number
  wakes: number
  textMs: number
  syncedMs: number
}

export interface Prediction {
  tokensPerSecond: number
  runsPerSecond: number
  groupsPerSecond: number
  wakesPerSecond: number
  /** Messages that reach a replica. */
  heardPerSecond: number
  walBytesPerSecond: number
  queriesPerSecond: number
  /** Cores that are busy: of the database, and for each of its tasks. */
  databaseCores: Record<Task, number>
  busyCores: number
  /** Share of the database's cores that are busy. 1: it cannot do what is asked. */
  utilization: number
  /** Cores of one replica that are busy. */
  replicaCores: number
  connections: { quiet: number; most: number }
  /** From the model to a reader on the same replica. */
  delayMs: { p50: number; p99: number }
  takeoverMs: { p50: number; most: number }
}

/** What the database is busy with. */
export type Task =
  | 'text'
  | 'runs'
  | 'wakes'
  | 'looks at ended runs'
  | 'looks for dead replicas'
  | 'readers elsewhere'
  | 'polls'

/** As in `src/log/session-log.ts`, `src/log/notified-wake.ts` and `src/engine/recovery/lease.ts`. A test compares them. */
export const GROUP_MS = 5
export const GATHER_MS = 5
export const LEASE_MS = 9_000
const RENEW_MS = LEASE_MS / 3
/** Each replica looks for the runs of dead ones this often. */
const ORPHANS_MS = 2_000
/** Commits of a run that are synced: it is accepted, and it is finished. A run with tools has two more for each call. */
export const DECISIONS = 2
/** An ended run makes every other replica ask for the session's open runs so often. */
export const LOOKS = 2
/** Commit, wakes, and connections for reads: a few, and up to so many when it is busy. */
const CONNECTIONS = { quiet: 7, most: 10 }

export function predict(constants: ScaleConstants, load: Load): Prediction {
  let pace: Pace = { groups: 1, syncedGroups: 1, wakes: 1, textMs: 1, syncedMs: 1 }
  let tasks = cores(constants, load, pace)
  // Slower commits make larger groups, which cost less: it settles at one point.
  for (let i = 0; i < 400; i += 1) {
    const wait = queueMs(constants, load, pace, tasks)
    const next = paceOf(constants, load, wait, pace)
    pace = mix(pace, next)
    tasks = cores(constants, load, pace)
  }
  const { replicas, streams, tokensPerSecond: rate, tokensPerRun } = load
  const tokens = streams * rate
  const runs = tokens / tokensPerRun
  const busy = sum(tasks)
  const wakes = replicas * pace.wakes
  const { text, run } = constants
  return {
    tokensPerSecond: tokens,
    runsPerSecond: runs,
    groupsPerSecond: replicas * pace.groups,
    wakesPerSecond: wakes,
    heardPerSecond: load.changes?.targetedWakes === true ? wakes / replicas : wakes,
    walBytesPerSecond:
      replicas * pace.groups * text.walBytes.group +
      tokens * (text.walBytes.row + text.walBytes.event) +
      runs * run.walBytes,
    queriesPerSecond: queries(constants, load, pace),
    databaseCores: tasks,
    busyCores: busy,
    utilization: busy / load.cores,
    replicaCores: replicaCores(constants, load, wakes),
    connections: { quiet: replicas * CONNECTIONS.quiet, most: replicas * CONNECTIONS.most },
    delayMs: delays(load, pace),
    takeoverMs: takeover(),
  }
}

/** Cores of the database that each task keeps busy. */
function cores(constants: ScaleConstants, load: Load, pace: Pace): Record<Task, number> {
  const { text, run, notify, read, idle } = constants
  const { replicas, streams, tokensPerSecond: rate, tokensPerRun, elsewhere } = load
  const tokens = streams * rate
  const runs = tokens / tokensPerRun
  const textOnly = Math.max(0, pace.groups - pace.syncedGroups)
  const others = replicas - 1
  const { targetedLooks = false, targetedWakes = false } = load.changes ?? {}
  const hearers = targetedWakes ? 1 : replicas
  const us: Record<Task, number> = {
    text: replicas * textOnly * text.databaseUs.group + tokens * (text.databaseUs.row + text.databaseUs.event),
    runs: runs * run.databaseUs * run.storedFactor,
    wakes: others === 0 ? 0 : replicas * pace.wakes * (notify.databaseUs.send + notify.databaseUs.listener * hearers),
    'looks at ended runs': targetedLooks ? 0 : runs * others * LOOKS * read.openRuns,
    'looks for dead replicas': (replicas / (ORPHANS_MS / 1_000)) * replicas * read.owner,
    'readers elsewhere': tokens * elsewhere * (read.heads.query + read.entries),
    polls: replicas * idle.databaseUs + streams * read.heads.row,
  }
  return Object.fromEntries(Object.entries(us).map(([task, value]) => [task, value / 1e6])) as Record<Task, number>
}

function queries({ run, idle }: ScaleConstants, load: Load, pace: Pace): number {
  const { replicas, streams, tokensPerSecond: rate, tokensPerRun, elsewhere } = load
  const runs = (streams * rate) / tokensPerRun
  const textOnly = Math.max(0, pace.groups - pace.syncedGroups)
  const looks = load.changes?.targetedLooks === true ? 0 : runs * (replicas - 1) * LOOKS
  const read = streams * rate * elsewhere * 2
  return replicas * (textOnly + pace.wakes + idle.commits) + runs * run.statements + looks + read
}

/** How long a commit waits for a core, on average: `cores` servers and one queue (Allen and Cunneen). */
function queueMs(constants: ScaleConstants, load: Load, pace: Pace, tasks: Record<Task, number>): number {
  const busy = sum(tasks)
  const { cores: m } = load
  const jobMs = meanJobMs(constants, load, pace)
  const share = Math.min(busy / m, 0.995)
  const wait = (share ** Math.sqrt(2 * (m + 1)) / (m * (1 - share))) * jobMs
  // What cannot be done in time waits, and everybody commits less often.
  return busy > m ? wait + ((busy - m) / m) * (GROUP_MS + pace.textMs) : wait
}

const meanJobMs = ({ text }: ScaleConstants, load: Load, pace: Pace): number => {
  const rows = (load.streams * load.tokensPerSecond) / load.replicas / Math.max(1, pace.groups)
  return (text.databaseUs.group + rows * (text.databaseUs.row + text.databaseUs.event)) / 1_000
}

function paceOf(constants: ScaleConstants, load: Load, waitMs: number, before: Pace): Pace {
  const { run, flushMs } = constants
  const perMs = (load.streams * load.tokensPerSecond) / load.replicas / 1_000
  const decisionsPerMs = (perMs / load.tokensPerRun) * DECISIONS
  const textMs = tripMs(constants) + meanJobMs(constants, load, before) + waitMs
  // A flush that is under way must end first.
  const isFlushing = Math.min(1, (load.replicas * before.syncedGroups * flushMs) / 1_000)
  const decisionMs = (run.databaseUs * run.storedFactor) / DECISIONS / 1_000
  const syncedMs = textMs + decisionMs + flushMs * (1 + isFlushing / 2)
  // A cycle is the commit, the pause after it, and the time until something comes.
  const arriving = perMs + decisionsPerMs
  const share = Math.min(1, decisionsPerMs / Math.max(decisionsPerMs, before.groups / 1_000))
  const pauseMs = load.changes?.groupMs ?? GROUP_MS
  const busyMs = pauseMs + textMs * (1 - share) + syncedMs * share
  const isFree = Math.exp(-arriving * busyMs)
  const cycleMs = busyMs + isFree / arriving
  const groups = 1_000 / cycleMs
  // What is written while a wake waits goes with it. If nothing is, the next one goes at once.
  const nextMs = isFree * Math.exp(-GATHER_MS / cycleMs) * cycleMs + (1 - isFree) * Math.max(0, cycleMs - GATHER_MS)
  const mostWakes = load.changes?.targetedWakes === true ? Math.min(groups, perMs * load.elsewhere * 1_000) : groups
  return {
    groups,
    syncedGroups: Math.min(groups, decisionsPerMs * 1_000),
    wakes: load.replicas > 1 ? Math.min(mostWakes, 1_000 / (GATHER_MS + nextMs)) : 0,
    textMs,
    syncedMs,
  }
}

/** On the way and in the client, without the database's CPU. */
export const tripMs = ({ text }: ScaleConstants): number =>
  Math.max(0.1, text.tripMs - (text.databaseUs.group + text.databaseUs.row + text.databaseUs.event) / 1_000)

/**
 * A token arrives in the middle of a commit or of the pause after it, waits for its end, and then for its own commit. Cycles with a
 * synced commit are longer, so a token meets them more often.
 */
function delays(load: Load, { groups, syncedGroups, textMs, syncedMs }: Pace): Prediction['delayMs'] {
  const perMs = (load.streams * load.tokensPerSecond) / load.replicas / 1_000
  const share = groups === 0 ? 0 : syncedGroups / groups
  const pauseMs = load.changes?.groupMs ?? GROUP_MS
  const cycles = [
    { ms: textMs + pauseMs, weight: (1 - share) * (textMs + pauseMs) },
    { ms: syncedMs + pauseMs, weight: share * (syncedMs + pauseMs) },
  ]
  const busy = cycles.reduce((all, { weight }) => all + weight, 0)
  const free = Math.exp(-perMs * busy) / perMs
  const samples: { ms: number; weight: number }[] = []
  for (const [own, chance] of [
    [textMs, 1 - share],
    [syncedMs, share],
  ] as const) {
    samples.push({ ms: own, weight: free * chance })
    for (const { ms, weight } of cycles) {
      for (let i = 0; i < 50; i += 1) samples.push({ ms: own + (ms * (i + 0.5)) / 50, weight: (weight * chance) / 50 })
    }
  }
  return { p50: quantile(samples, 0.5), p99: quantile(samples, 0.99) }
}

function quantile(samples: readonly { ms: number; weight: number }[], share: number): number {
  const sorted = samples.toSorted((a, b) => a.ms - b.ms)
  const total = sorted.reduce((all, { weight }) => all + weight, 0)
  let seen = 0
  for (const { ms, weight } of sorted) {
    seen += weight
    if (seen >= total * share) return ms
  }
  return sorted.at(-1)?.ms ?? 0
}

/** A lease has between two thirds and all of its time left. Then each replica takes its share when it looks, or another one at the next look. */
const takeover = (): Prediction['takeoverMs'] => ({
  p50: LEASE_MS - RENEW_MS / 2 + ORPHANS_MS / 2,
  most: LEASE_MS + 2 * ORPHANS_MS,
})

function replicaCores({ token, run, notify, read, idle }: ScaleConstants, load: Load, wakes: number): number {
  const tokens = (load.streams * load.tokensPerSecond) / load.replicas
  const runs = tokens / load.tokensPerRun
  const looks = load.changes?.targetedLooks === true ? 0 : runs * load.replicas * LOOKS
  const heard = load.changes?.targetedWakes === true ? wakes / load.replicas : wakes
  const us =
    tokens * token.clientUs +
    runs * run.clientUs +
    heard * notify.clientUs.hear +
    (wakes / load.replicas) * notify.clientUs.send +
    (looks + tokens * load.elsewhere * 2) * read.clientUs +
    idle.clientUs
  return us / 1e6
}

/** Half of the way, so that it does not swing. */
function mix(a: Pace, b: Pace): Pace {
  const half = (key: keyof Pace) => (a[key] + b[key]) / 2
  return {
    groups: half('groups'),
    syncedGroups: half('syncedGroups'),
    wakes: half('wakes'),
    textMs: half('textMs'),
    syncedMs: half('syncedMs'),
  }
}

const sum = (tasks: Record<Task, number>): number => Object.values(tasks).reduce((all, one) => all + one, 0)
