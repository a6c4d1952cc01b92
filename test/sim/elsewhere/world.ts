// The world of agents elsewhere in one trial: how long things take there, who works, and the files that they change.

import type { Random } from '../random.ts'
import type { SimFiles } from './sim-files.ts'

export interface ElsewhereWorld {
  /** Windows of coding agents. Those with the same token and no connection of their own share a session. */
  windows: readonly WindowOptions[]
  maxOpen: number
  timeouts: { approvalMs: number; promptMs: number; waitMs: number | null }
  stall: { inactivityMs: number; escalationMs: number; maxRetries: number }
  /** How long a host lets a call block. */
  limitMs: number
  /** What agents do most of all; null: a bit of everything. */
  habit: 'prompts' | 'changes' | null
  /** Longest time between two calls of an agent. */
  thinkMs: number
  /** The caller gives up in the middle of a call. */
  vanishes: number
  /** The same call twice at once, or two calls side by side. */
  sideBySide: number
  /** The window closes, and another one opens. */
  reopens: number
  /** Nobody answers while the faults last. */
  isAlone: boolean
  /** How often operators pause, end, steer and so on, between two looks at what waits. */
  commands: number
  /** Somebody else writes a file that an agent works on. */
  racingWrites: number
  /** The disk of the workspaces. It outlives the server. */
  files: SimFiles
}

export interface WindowOptions {
  name: string
  tokenId: string
  workspaceRoot: string
  hasConnection: boolean
  calls: number
}

export function drawElsewhere(random: Random): ElsewhereWorld {
  const workspaces = ['/srv/shop', '/srv/site'] as const
  const windows = Array.from({ length: random.between(1, 3) }, (_, i) => {
    const hasConnection = random.chance(0.6)
    return {
      name: `w${i}`,
      tokenId: hasConnection && random.chance(0.5) ? 'token-shared' : `token-${i}`,
      workspaceRoot: random.pick(workspaces),
      hasConnection,
      calls: random.between(6, 24),
    }
  })
  const world: ElsewhereWorld = {
    windows,
    maxOpen: random.between(2, 6),
    timeouts: {
      approvalMs: random.pick([500, 2_000, 3_600_000]),
      promptMs: random.pick([300, 1_500, 1_800_000]),
      waitMs: random.pick([null, 400, 5_000]),
    },
    stall: {
      inactivityMs: random.pick([200, 1_000, 300_000]),
      escalationMs: random.pick([100, 400]),
      maxRetries: random.between(1, 3),
    },
    limitMs: random.pick([100, 600, 3_000]),
    thinkMs: random.pick([20, 200, 800]),
    vanishes: random.chance(0.4) ? 0 : random.float() * 0.4,
    sideBySide: random.chance(0.4) ? 0 : random.float() * 0.5,
    reopens: random.chance(0.5) ? 0 : random.float() * 0.2,
    isAlone: false,
    commands: random.float() * 0.4,
    racingWrites: random.chance(0.5) ? 0 : random.float() * 0.3,
    habit: null,
    files: { contents: new Map(), writes: [] },
  }
  if (random.chance(0.4)) random.pick(themes)(world)
  return world
}

/** Some bugs need a busy agent that does one thing all the time. */
const themes: readonly [(world: ElsewhereWorld) => void, ...((world: ElsewhereWorld) => void)[]] = [
  function alone(world) {
    Object.assign(world, { habit: 'prompts', thinkMs: 20, limitMs: 3_000, commands: 0, isAlone: true })
    world.timeouts.promptMs = 100
  },
  function writing(world) {
    Object.assign(world, { habit: 'changes', thinkMs: 20, limitMs: 600 })
    world.timeouts.approvalMs = 3_600_000
  },
]
