// The simulator from the command line: `node test/sim/run.ts --seeds 2000`, or one seed again with `--seed N --trace`.

import { parseArgs } from 'node:util'
import { faultKinds } from './faults.ts'
import { hunt } from './mutants/hunt.ts'
import { mutants } from './mutants/mutants.ts'
import regressions from './regressions.json' with { type: 'json' }
import { describeFailure } from './report.ts'
import { runTrial, type TrialOptions } from './trial.ts'

const say = (line: string) => void process.stdout.write(`${line}\n`)

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string', default: '200' },
    from: { type: 'string', default: '1' },
    trace: { type: 'boolean', default: false },
    mutant: { type: 'string' },
    mutants: { type: 'boolean', default: false },
    off: { type: 'string', multiple: true, default: [] },
    elsewhere: { type: 'boolean', default: false },
    replicas: { type: 'boolean', default: false },
    hosted: { type: 'boolean', default: false },
    shrink: { type: 'boolean', default: false },
    'keep-going': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

const usage = `node test/sim/run.ts [--seeds N] [--from N] [--seed N] [--trace] [--mutant NAME] [--mutants] [--off KIND] [--elsewhere] [--replicas] [--hosted] [--shrink] [--keep-going]
  --seed N        one seed; --trace prints everything that happens in it
  --seeds N       so many seeds (200), starting at --from (1); stops at the first that fails unless --keep-going
  --mutant NAME   with a planted bug: ${mutants.map(({ name }) => name).join(', ')}
  --mutants       hunts every planted bug and says which seed gave it away
  --off KIND      without a kind of fault, may be repeated: ${Object.keys(faultKinds).join(', ')}
  --elsewhere     agents that work elsewhere and their operators, in place of clients
  --replicas      one to three replicas on a database, in place of one process on a disk
  --hosted        an agent in a program of its own, also with --replicas
  --shrink        for a failing seed, finds the kinds of faults that it needs`

function wholeNumber(name: string, text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 0) fail(`--${name} takes a whole number, not ${JSON.stringify(text)}.`)
  return value
}

function fail(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(2)
}

const mutant = values.mutant === undefined ? null : (mutants.find(({ name }) => name === values.mutant) ?? null)
if (values.mutant !== undefined && mutant === null) {
  fail(`There is no mutant ${JSON.stringify(values.mutant)}. Mutants: ${mutants.map(({ name }) => name).join(', ')}.`)
}

function optionsOf(seed: number, off: readonly string[]): TrialOptions {
  return {
    seed,
    mutant,
    adjust(faults) {
      for (const kind of off) {
        const remove = faultKinds[kind]
        if (remove === undefined)
          fail(`There is no fault ${JSON.stringify(kind)}. Faults: ${Object.keys(faultKinds).join(', ')}.`)
        remove(faults)
      }
    },
    ...(values.elsewhere ? { elsewhere: true } : {}),
    ...(values.replicas ? { replicas: true } : {}),
    ...(values.hosted ? { hosted: true } : {}),
    ...(values.trace ? { onLine: say } : {}),
  }
}

/** Switches off, one after the other, every kind of fault that the failure does not need. */
async function shrink(seed: number): Promise<string[]> {
  const off = [...values.off]
  for (const kind of Object.keys(faultKinds)) {
    const { findings } = await runTrial({ ...optionsOf(seed, [...off, kind]), onLine: () => {} })
    if (findings.length > 0) off.push(kind)
  }
  return off
}

async function main(): Promise<number> {
  const first = wholeNumber('from', values.from)
  const count = wholeNumber('seeds', values.seeds)
  // Seeds that once failed are always among them; a mutant is hunted without their help.
  const known =
    mutant === null && !values.elsewhere && !values.hosted
      ? regressions.filter(({ replicas = false }) => replicas === values.replicas).map(({ seed }) => seed)
      : []
  const seeds =
    values.seed === undefined
      ? new Set([...known, ...Array.from({ length: count }, (_, i) => first + i)])
      : [wholeNumber('seed', values.seed)]
  const began = performance.now()
  const total = {
    seeds: 0,
    crashes: 0,
    runs: 0,
    shown: 0,
    resumes: 0,
    asked: 0,
    decided: 0,
    consumed: 0,
    called: 0,
    simulatedMs: 0,
  }
  const failed: number[] = []
  for (const seed of seeds) {
    const trial = await runTrial(optionsOf(seed, values.off))
    total.seeds += 1
    for (const key of [
      'crashes',
      'runs',
      'shown',
      'resumes',
      'asked',
      'decided',
      'consumed',
      'called',
      'simulatedMs',
    ] as const)
      total[key] += trial.stats[key]
    if (trial.findings.length === 0) continue
    failed.push(seed)
    say(describeFailure(trial, { withLines: !values.trace && !values['keep-going'] }))
    if (values.shrink) {
      const off = await shrink(seed)
      say(
        `seed ${seed} fails without: ${off.join(', ')}\nso it needs: ${Object.keys(faultKinds)
          .filter((kind) => !off.includes(kind))
          .join(', ')}`,
      )
    }
    if (!values['keep-going']) break
  }
  const seconds = (performance.now() - began) / 1_000
  say(
    `${total.seeds} seeds in ${seconds.toFixed(1)} s (${(total.seeds / seconds).toFixed(1)}/s): ${failed.length} failed, ` +
      `${total.crashes} crashes, ${total.runs} runs, ${total.shown} entries shown, ${total.resumes} resumes, ` +
      `${total.asked} waits, ${total.decided} decisions, ${total.consumed} approvals used, ${total.called} calls of agents elsewhere, ` +
      `${(total.simulatedMs / 3_600_000).toFixed(2)} simulated hours`,
  )
  if (failed.length > 1) say(`failed: ${failed.join(' ')}`)
  return failed.length > 0 ? 1 : 0
}

/** The gate: each planted bug, from seed 1. */
async function huntAll(): Promise<number> {
  let escaped = 0
  for (const one of mutants) {
    const { seed, unexpected } = await hunt(one, wholeNumber('seeds', values.seeds), 1)
    if (seed === null) escaped += 1
    say(
      `${one.name.padEnd(26)} ${seed === null ? 'ESCAPED' : `seed ${seed}`}${unexpected
        .slice(0, 3)
        .map((other) => `\n  ${other}`)
        .join('')}`,
    )
  }
  return escaped > 0 ? 1 : 0
}

if (values.help) say(usage)
else process.exitCode = await (values.mutants ? huntAll() : main())
