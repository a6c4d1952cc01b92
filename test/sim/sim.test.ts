import { HttpAgent } from '@ag-ui/client'
import { describe, expect, test } from 'vitest'
import { isFinished } from '../../src/domain/session/run.ts'
import { isQuick, runs } from '../tier.ts'
import { entriesOf } from './evidence.ts'
import { describeFailure } from './report.ts'
import { runTrial, type Trial, type TrialOptions } from './trial.ts'

// How many seeds the suite plays, and where it begins: a number, so that a busy machine looks as hard as a quiet one.
// `npm run sim -- --seeds 2000` looks longer.
const SEEDS = Number(process.env.SIM_SEEDS ?? runs(20))
/** Each seed with agents elsewhere takes longer. */
const ELSEWHERE_SEEDS = Number(process.env.SIM_ELSEWHERE_SEEDS ?? runs(8))
/** One to three replicas each. */
const REPLICA_SEEDS = Number(process.env.SIM_REPLICA_SEEDS ?? runs(12))
/** Every second one with replicas. */
const HOSTED_SEEDS = Number(process.env.SIM_HOSTED_SEEDS ?? runs(16))
/** Every so many seeds one is played again. */
const AGAIN_EVERY = 5
const FROM = Number(process.env.SIM_FROM ?? 1)
/** Trials have their own clock. This is for one that hangs, and far from what a busy machine needs. */
const PATIENCE_MS = 600_000

/** Must do the same, and leave nothing undone between two items. */
async function playAgain({ seed, hash }: Trial, options: Omit<TrialOptions, 'seed'> = {}): Promise<void> {
  const again = await runTrial({ seed, ...options, strict: true })
  expect([seed, again.hash]).toEqual([seed, hash])
}

/** The first trials, which two tests look at. Nobody changes a trial that is over. */
const FIRST_SEEDS = isQuick ? [1] : [1, 2, 3, 4, 5, 6]
const first = new Map<number, Promise<Trial>>()
function playOnce(seed: number): Promise<Trial> {
  const trial = first.get(seed) ?? runTrial({ seed })
  if (FIRST_SEEDS.includes(seed)) first.set(seed, trial)
  return trial
}

const expectSound = (trial: Trial) => expect(trial.findings.length, describeFailure(trial, { withLines: true })).toBe(0)

describe('the fault simulator', () => {
  test('finds no seed that breaks a promise, and plays a seed the same way twice', {
    timeout: PATIENCE_MS + 10_000 * SEEDS,
  }, async () => {
    const total = { crashes: 0, runs: 0, shown: 0, resumes: 0, asked: 0, decided: 0, consumed: 0 }
    for (let seed = FROM; seed < FROM + SEEDS; seed += 1) {
      const trial = await playOnce(seed)
      expectSound(trial)
      for (const key of ['crashes', 'runs', 'shown', 'resumes', 'asked', 'decided', 'consumed'] as const)
        total[key] += trial.stats[key]
      if (seed % AGAIN_EVERY === 1) await playAgain(trial)
    }
    process.stdout.write(`fault simulator: seeds ${FROM} to ${FROM + SEEDS - 1}, ${JSON.stringify(total)}\n`)
  })

  test('finds no seed that breaks a promise to agents elsewhere, and plays a seed the same way twice', {
    timeout: PATIENCE_MS + 10_000 * ELSEWHERE_SEEDS,
  }, async () => {
    const total = { crashes: 0, asked: 0, decided: 0, consumed: 0, called: 0 }
    for (let seed = FROM; seed < FROM + ELSEWHERE_SEEDS; seed += 1) {
      const trial = await runTrial({ seed, elsewhere: true })
      expectSound(trial)
      for (const key of ['crashes', 'asked', 'decided', 'consumed', 'called'] as const) total[key] += trial.stats[key]
      if (seed % AGAIN_EVERY === 1) await playAgain(trial, { elsewhere: true })
    }
    process.stdout.write(`agents elsewhere: seeds ${FROM} to ${FROM + ELSEWHERE_SEEDS - 1}, ${JSON.stringify(total)}\n`)
  })

  test('finds no seed that breaks a promise with several replicas, and plays a seed the same way twice', {
    timeout: PATIENCE_MS + 10_000 * REPLICA_SEEDS,
  }, async () => {
    const total = { crashes: 0, runs: 0, shown: 0, resumes: 0, asked: 0, decided: 0, consumed: 0 }
    for (let seed = FROM; seed < FROM + REPLICA_SEEDS; seed += 1) {
      const trial = await runTrial({ seed, replicas: true })
      expectSound(trial)
      for (const key of ['crashes', 'runs', 'shown', 'resumes', 'asked', 'decided', 'consumed'] as const)
        total[key] += trial.stats[key]
      if (seed % AGAIN_EVERY === 1) await playAgain(trial, { replicas: true })
    }
    process.stdout.write(`replicas: seeds ${FROM} to ${FROM + REPLICA_SEEDS - 1}, ${JSON.stringify(total)}\n`)
  })

  test('finds no seed that breaks a promise to hosted agents, and plays a seed the same way twice', {
    timeout: PATIENCE_MS + 10_000 * HOSTED_SEEDS,
  }, async () => {
    const total = { crashes: 0, runs: 0, asked: 0, decided: 0, consumed: 0, acts: 0, writes: 0 }
    for (let seed = FROM; seed < FROM + HOSTED_SEEDS; seed += 1) {
      const options = { hosted: true, replicas: seed % 2 === 0 }
      const trial = await runTrial({ seed, ...options })
      expectSound(trial)
      for (const key of Object.keys(total) as (keyof typeof total)[]) total[key] += trial.stats[key]
      if (seed % AGAIN_EVERY === 1) await playAgain(trial, options)
    }
    process.stdout.write(`hosted agents: seeds ${FROM} to ${FROM + HOSTED_SEEDS - 1}, ${JSON.stringify(total)}\n`)
  })

  test('writes runs that the real AG-UI client accepts', { timeout: PATIENCE_MS }, async () => {
    let played = 0
    for (const seed of FIRST_SEEDS) {
      const { evidence } = await playOnce(seed)
      for (const { log, stored, runs: records } of evidence.sessions.values()) {
        for (const run of records.filter(({ status }) => isFinished(status))) {
          const entries = entriesOf(log, run.id)
          // The client copies all messages at every event, so long answers take it minutes.
          if (entries.length > 150) continue
          await accept(entries)
          await accept(entriesOf(stored, run.id))
          played += 1
        }
      }
    }
    expect(played).toBeGreaterThan(isQuick ? 0 : 20)
  })
})

/** Plays the events of a run to the client of the protocol; rejects when it finds them out of order. */
async function accept(entries: readonly { kind: string; data: string }[]): Promise<void> {
  const frames = entries.filter(({ kind }) => kind === 'event').map(({ data }) => `data: ${data}\n\n`)
  const headers = { 'content-type': 'text/event-stream' }
  const agent = new HttpAgent({
    url: 'http://sim.invalid/',
    fetch: async () => new Response(frames.join(''), { headers }),
  })
  let hasEnded = false
  const note = () => {
    hasEnded = true
  }
  await agent.runAgent({}, { onRunFinishedEvent: note, onRunErrorEvent: note })
  expect(hasEnded).toBe(true)
}
