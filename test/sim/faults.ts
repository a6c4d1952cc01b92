// What goes wrong in one trial. Every figure is drawn from the seed ("swarm"): some trials have none of a kind, some have many,
// for a fault that is always there hides those behind it.

import { type ClusterFaults, clusterFaultKinds } from './cluster/cluster-faults.ts'
import type { Random } from './random.ts'

export interface Faults {
  process: {
    /** Mean time between deaths; null for none. */
    crashEveryMs: number | null
    /** Share of the deaths that are power cuts; the others are kill -9. */
    powerCuts: number
    /** Probability that a new process dies within its first moments. */
    inRecovery: number
    /** Probability of a power cut while a sync is under way: what was written is on its way to the disk, and nobody may know. */
    cutsInSync: number
    /** Probability that the process is killed while a sync is under way, and that its machine loses power soon after the next one serves. */
    killsBeforeCuts: number
    /** Orderly restarts: mean time between them. */
    restartEveryMs: number | null
    drainMs: number
  }
  disk: {
    /** A call of the store takes up to this long on the way there, and again on the way back. */
    callMs: number
    syncMs: readonly [min: number, max: number]
    fullEveryMs: number | null
    fullForMs: number
    /** Probability that a sync fails, which ends the process. */
    syncFails: number
    /** Probability that a call of the store fails and does nothing. */
    callFails: number
  }
  wallJumpEveryMs: number | null
  model: {
    chunkMs: number
    /** Per chunk. */
    dies: number
    /** Per answer. */
    refuses: number
    hangs: number
    long: number
    /** Probability of an answer that calls tools. */
    calls: number
    /** The next answer repeats the last calls. */
    repeats: number
    reasons: number
  }
  tool: { ms: number; fails: number; throws: number; hangs: number; throwsLate: number }
  /** What the agents have beside free tools of their own. */
  offers: { gated: boolean; client: boolean; agents: boolean }
  /** Those who answer: operators, owners, clients that run tools. */
  people: {
    /** Longest time before they look again. */
    thinkMs: number
    /** They let something lie; then it expires, or is answered when the trial has calmed down. */
    ignores: number
    rejects: number
    edits: number
    remembers: number
    /** Two answers at once, which need not agree. */
    twice: number
    /** An answer to what has been answered. */
    late: number
    /** Share of the answers that come as a request of the conversation. */
    inConversation: number
    expiresSeconds: number
  }
  /** Probability that a new process has other rules. */
  rulesChange: number
  net: {
    ms: number
    /** The server did what was asked and its answer is lost. */
    lostAnswer: number
    /** The same request twice at once. */
    twice: number
  }
  reader: {
    /** Per batch that it got. */
    leaves: number
    stalls: number
    /** On coming back: with an older id than its last. */
    rewinds: number
    /** Never comes back. */
    givesUp: number
  }
  cancels: number
  /** Idle time after which a session is compacted; null for never. */
  compactAfterMs: number | null
  /** Time a run goes on without readers; null for ever. */
  graceMs: number | null
  /** Null: one process on a disk of its own. */
  cluster: ClusterFaults | null
}

/** Some bugs need several faults to come together; what they were found with is kept, and tried again in many trials. */
const themes: readonly [(faults: Faults) => void, ...((faults: Faults) => void)[]] = [
  function slowDisk({ disk, process, model, net, reader }) {
    Object.assign(disk, { callMs: 10, syncMs: [20, 50], fullEveryMs: null })
    Object.assign(process, { cutsInSync: 0.2, powerCuts: 1 })
    Object.assign(model, { chunkMs: 2, long: 0 })
    net.ms = 1
    Object.assign(reader, { leaves: 0.5, stalls: 0 })
  },
  function farStore({ disk, model }) {
    Object.assign(disk, { callMs: 10, syncMs: [1, 2], fullEveryMs: null })
    Object.assign(model, { chunkMs: 2, long: 0 })
  },
  function cancelled(faults) {
    faults.cancels = 0.9
    faults.graceMs = null
    Object.assign(faults.disk, { callMs: 4, syncMs: [20, 50], fullEveryMs: null, callFails: 0 })
    Object.assign(faults.model, { hangs: 0.4, long: 0 })
    faults.process.crashEveryMs = null
  },
  function woven(faults) {
    faults.compactAfterMs = 100
    Object.assign(faults.model, { calls: 0.9, long: 0, chunkMs: 2 })
    Object.assign(faults.reader, { leaves: 0.4, rewinds: 0.8, givesUp: 0 })
  },
  function supervised(faults) {
    faults.offers = { gated: true, client: true, agents: true }
    Object.assign(faults.model, { calls: 0.9, long: 0, chunkMs: 2, hangs: 0, dies: 0 })
    Object.assign(faults.people, { thinkMs: 150, ignores: 0.05, expiresSeconds: 3_600 })
    faults.process.crashEveryMs = 1_200
    faults.cancels = 0.1
  },
  function inDoubt(faults) {
    faults.offers.gated = true
    Object.assign(faults.model, { calls: 0.9, long: 0, chunkMs: 0, hangs: 0, dies: 0 })
    Object.assign(faults.people, { thinkMs: 60, ignores: 0, rejects: 0.2, twice: 0.4 })
    Object.assign(faults.disk, { callMs: 4, syncMs: [20, 50] })
    Object.assign(faults.tool, { ms: 100, hangs: 0, throwsLate: 0 })
    Object.assign(faults.process, { crashEveryMs: 500, powerCuts: 0.5 })
    faults.cancels = 0
  },
  function fullDisk({ disk, model, tool, process }) {
    disk.fullEveryMs = 400
    disk.fullForMs = 150
    model.calls = 0.9
    model.long = 0
    tool.ms = 100
    process.crashEveryMs = 800
  },
]

/** Half of the trials do without this kind of fault. */
const maybe = (random: Random, most: number): number => (random.chance(0.5) ? 0 : random.float() * most)
const every = (random: Random, min: number, max: number): number | null =>
  random.chance(0.4) ? null : random.between(min, max)

export function drawFaults(random: Random): Faults {
  const faults = drawEach(random)
  if (random.chance(0.5)) random.pick(themes)(faults)
  return faults
}

function drawEach(random: Random): Faults {
  return {
    process: {
      crashEveryMs: random.chance(0.2) ? null : random.between(150, 3_000),
      powerCuts: random.pick([0, 0.5, 1, 0.5]),
      inRecovery: maybe(random, 0.6),
      cutsInSync: random.chance(0.6) ? 0 : random.float() * 0.05,
      killsBeforeCuts: 0,
      restartEveryMs: random.chance(0.7) ? null : random.between(1_500, 6_000),
      drainMs: random.between(0, 1_500),
    },
    disk: {
      callMs: random.pick([0, 0.2, 1, 4]),
      syncMs: random.pick([
        [1, 2],
        [1, 10],
        [1, 50],
        [20, 50],
      ]),
      fullEveryMs: random.chance(0.6) ? null : random.between(800, 5_000),
      fullForMs: random.between(20, 1_500),
      syncFails: random.chance(0.8) ? 0 : 0.01,
      callFails: random.chance(0.7) ? 0 : random.float() * 0.05,
    },
    wallJumpEveryMs: every(random, 300, 4_000),
    model: {
      chunkMs: random.pick([0, 2, 20, 60]),
      dies: maybe(random, 0.1),
      refuses: maybe(random, 0.2),
      hangs: maybe(random, 0.2),
      long: random.chance(0.85) ? 0 : 0.15,
      calls: random.pick([0, 0.3, 0.6, 0.9]),
      repeats: maybe(random, 0.5),
      reasons: maybe(random, 0.8),
    },
    tool: {
      ms: random.pick([0, 5, 100, 600]),
      fails: maybe(random, 0.3),
      throws: maybe(random, 0.2),
      hangs: maybe(random, 0.2),
      throwsLate: maybe(random, 0.2),
    },
    offers: { gated: random.chance(0.6), client: random.chance(0.4), agents: random.chance(0.4) },
    people: {
      thinkMs: random.pick([50, 200, 1_500]),
      ignores: maybe(random, 0.5),
      rejects: random.float() * 0.6,
      edits: maybe(random, 0.4),
      remembers: maybe(random, 0.3),
      twice: maybe(random, 0.4),
      late: maybe(random, 0.4),
      inConversation: random.pick([0, 0.3, 0.7, 1]),
      expiresSeconds: random.pick([1, 3, 3_600]),
    },
    rulesChange: maybe(random, 0.5),
    net: { ms: random.pick([0, 1, 10]), lostAnswer: maybe(random, 0.3), twice: maybe(random, 0.4) },
    reader: {
      leaves: maybe(random, 0.4),
      stalls: maybe(random, 0.1),
      rewinds: maybe(random, 0.6),
      givesUp: maybe(random, 0.2),
    },
    cancels: maybe(random, 0.6),
    compactAfterMs: random.chance(0.5) ? null : random.between(100, 2_000),
    graceMs: random.pick([null, 200, 3_000]),
    cluster: null,
  }
}

/** The kinds that can be switched off one by one, to find out which of them a failing seed needs. */
export const faultKinds: Readonly<Record<string, (faults: Faults) => void>> = {
  crashes: (faults) => {
    faults.process.crashEveryMs = null
  },
  'power-cuts': (faults) => {
    faults.process.powerCuts = 0
  },
  'cuts-in-sync': (faults) => {
    faults.process.cutsInSync = 0
  },
  'crash-in-recovery': (faults) => {
    faults.process.inRecovery = 0
  },
  restarts: (faults) => {
    faults.process.restartEveryMs = null
  },
  'disk-full': (faults) => {
    faults.disk.fullEveryMs = null
  },
  'sync-fails': (faults) => {
    faults.disk.syncFails = 0
  },
  'store-fails': (faults) => {
    faults.disk.callFails = 0
  },
  'wall-jumps': (faults) => {
    faults.wallJumpEveryMs = null
  },
  'model-dies': (faults) => {
    faults.model.dies = 0
    faults.model.refuses = 0
  },
  'model-hangs': (faults) => {
    faults.model.hangs = 0
  },
  'model-long': (faults) => {
    faults.model.long = 0
  },
  tools: (faults) => {
    faults.model.calls = 0
  },
  'tool-faults': (faults) => {
    Object.assign(faults.tool, { fails: 0, throws: 0, hangs: 0, throwsLate: 0 })
  },
  gates: (faults) => {
    faults.offers.gated = false
  },
  'client-tools': (faults) => {
    faults.offers.client = false
  },
  'other-agents': (faults) => {
    faults.offers.agents = false
  },
  'answers-twice': (faults) => {
    Object.assign(faults.people, { twice: 0, late: 0 })
  },
  'in-conversation': (faults) => {
    faults.people.inConversation = 0
  },
  ignores: (faults) => {
    Object.assign(faults.people, { ignores: 0, expiresSeconds: 3_600 })
  },
  edits: (faults) => {
    Object.assign(faults.people, { edits: 0, remembers: 0 })
  },
  'rules-change': (faults) => {
    faults.rulesChange = 0
  },
  reasoning: (faults) => {
    faults.model.reasons = 0
  },
  net: (faults) => {
    Object.assign(faults.net, { lostAnswer: 0, twice: 0 })
  },
  'reader-leaves': (faults) => {
    Object.assign(faults.reader, { leaves: 0, givesUp: 0 })
  },
  'reader-rewinds': (faults) => {
    faults.reader.rewinds = 0
  },
  'reader-stalls': (faults) => {
    faults.reader.stalls = 0
  },
  cancels: (faults) => {
    faults.cancels = 0
  },
  compaction: (faults) => {
    faults.compactAfterMs = null
  },
  grace: (faults) => {
    faults.graceMs = null
  },
  ...Object.fromEntries(
    Object.entries(clusterFaultKinds).map(([kind, remove]) => [
      kind,
      ({ cluster }: Faults) => {
        if (cluster !== null) remove(cluster)
      },
    ]),
  ),
}
