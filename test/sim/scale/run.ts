// `npm run sim:scale`: what the formulas of bench/SCALE.md say about a large installation, beside what happens in the simulator.

import { parseArgs } from 'node:util'
import { measuredConstants } from '../../../bench/scale/constants.ts'
import { type Load, predict } from '../../../bench/scale/cost-model.ts'
import { compare, showComparison } from './compare.ts'
import { simulate } from './simulate.ts'

const say = (line: string) => void process.stdout.write(`${line}\n`)

const { values } = parseArgs({
  options: {
    replicas: { type: 'string', default: '100' },
    streams: { type: 'string', default: '10000' },
    rate: { type: 'string', default: '5' },
    tokens: { type: 'string', default: '200' },
    elsewhere: { type: 'string', default: '0.1' },
    cores: { type: 'string', default: '64' },
    kills: { type: 'string', default: '10' },
    seed: { type: 'string', default: '1' },
  },
})

const number = (name: keyof typeof values): number => {
  const value = Number(values[name])
  if (Number.isFinite(value) && value >= 0) return value
  process.stderr.write(`--${name} takes a number, not ${JSON.stringify(values[name])}.\n`)
  process.exit(2)
}

const load: Load = {
  replicas: number('replicas'),
  streams: number('streams'),
  tokensPerSecond: number('rate'),
  tokensPerRun: number('tokens'),
  elsewhere: number('elsewhere'),
  cores: number('cores'),
}
const began = performance.now()
const predicted = predict(measuredConstants, load)
say(
  `${load.replicas} replicas, ${load.streams} streams at ${load.tokensPerSecond} tokens/s, ${load.tokensPerRun} tokens a run, a database of ${load.cores} cores`,
)
const simulated = await simulate({
  constants: measuredConstants,
  load,
  seed: number('seed'),
  rampMs: 6_000,
  settleMs: 2_000,
  measureMs: 4_000,
  kills: number('kills'),
  afterMs: 11_500,
  progress: (line) => say(`  ${line}, ${((performance.now() - began) / 1_000).toFixed(0)} s here`),
})
const rows = compare(predicted, simulated)
say(showComparison(rows))
say(
  `${simulated.takers.replicas} replicas took over ${simulated.takeoversMs.length} runs, one of them ${simulated.takers.most}; ${simulated.lost} were left.`,
)
const { decisions, finished, syncedGroups, longestLine } = simulated.perSecond
say(
  `${(decisions / finished).toFixed(2)} decisions a run, ${syncedGroups.toFixed(0)} synced commits/s, at most ${longestLine} waited for a core`,
)
say(`readers on another replica: p50 ${at(simulated.elsewhereMs, 0.5)} ms, p99 ${at(simulated.elsewhereMs, 0.99)} ms`)
const wrong = rows.filter((row) => !row.isClose)
for (const { name, allowed } of wrong) say(`${name}: formula and simulator differ by more than allowed (${allowed}).`)
process.exitCode = wrong.length === 0 && simulated.lost === 0 ? 0 : 1

function at(sorted: Float64Array, share: number): string {
  return (sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN).toFixed(1)
}
