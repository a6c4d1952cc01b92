// The machine of hosted agents in one trial: their workspace, and what their programs have on the disk. All of it outlives the server.

import type { SimFiles } from '../elsewhere/sim-files.ts'
import { drawElsewhere, type ElsewhereWorld } from '../elsewhere/world.ts'
import type { Random } from '../random.ts'

export interface HostedWorld {
  /** What the server offers those who supervise. No window is open. */
  supervision: ElsewhereWorld
  writes: 'worktree' | 'client'
  /** A program that has nothing to do ends after so long. */
  ttlSeconds: number
  /** Most things that a program does for one message. */
  steps: number
  /** Longest time between two of them. */
  thinkMs: number
  /** A program that is started again knows its conversation. */
  remembers: number
  /** It ends by itself some time. */
  dies: number
  /** It does not hear that it is cancelled. */
  isDeaf: number
  /** It asks without saying what for. */
  isSilent: number
  /** Somebody else writes a file that it works on. */
  racingWrites: number
  files: SimFiles
  /** By session. */
  rooms: Map<string, Room>
  /** What programs did outside of their copies. */
  acts: Act[]
}

/** What the programs of one session leave for each other. */
export interface Room {
  conversation: string | null
  /** The messages that it has heard. */
  heard: Set<string>
  /** What they ask for and is not done. */
  todo: Step[]
  /** The files of the private copy that are not as in the workspace. */
  copy: Map<string, string>
  /** The words of all prompts that its programs had. */
  prompts: string[]
  /** Programs that run now. */
  running: number
}

export type Step =
  | { type: 'say'; text: string }
  | { type: 'run'; command: string; isSaid: boolean }
  | { type: 'write'; path: string; text: string }

export interface Act {
  sessionId: string
  /** Null: it had asked without saying what for. */
  command: string | null
  at: number
}

export const WORKSPACE = '/srv/shop'

export function drawHosted(random: Random): HostedWorld {
  const supervision = drawElsewhere(random.fork('supervision'))
  supervision.stall.inactivityMs = random.pick([1_000, 300_000])
  return {
    supervision: {
      ...supervision,
      windows: [],
      maxOpen: random.between(1, 4),
      commands: random.float() * 0.04,
      isAlone: false,
    },
    writes: random.chance(0.7) ? 'worktree' : 'client',
    ttlSeconds: random.pick([1, 1_800]),
    steps: random.between(1, 5),
    thinkMs: random.pick([10, 100, 400]),
    remembers: random.pick([0, 0.5, 1]),
    dies: random.chance(0.5) ? 0 : random.float(),
    isDeaf: random.chance(0.5) ? 0 : random.float() * 0.5,
    isSilent: random.chance(0.5) ? 0 : random.float() * 0.5,
    racingWrites: random.chance(0.5) ? 0 : random.float() * 0.5,
    files: supervision.files,
    rooms: new Map(),
    acts: [],
  }
}

export function roomOf({ rooms }: HostedWorld, sessionId: string): Room {
  const room = rooms.get(sessionId) ?? {
    conversation: null,
    heard: new Set(),
    todo: [],
    copy: new Map(),
    prompts: [],
    running: 0,
  }
  rooms.set(sessionId, room)
  return room
}
