// Measures the figures that the project promises, compares them with a floor in the same run, and writes them to RESULTS.md.
//   npm run bench -- [--only full,paced,latency,slow-disk,start,idle,streams,sessions,growth,doors,hostile,supervision,asking,channels,postgres] [--seconds 5] [--json out.json]
//                    [--server bin/quarterdeck.js]
// A partial run prints its table and changes no more of RESULTS.md than the sections about supervision, asking and Postgres, if it
// measured those. Exit code 1: a target was missed; 2: nothing was measured.

import { readFileSync, writeFileSync } from 'node:fs'
import { arch, cpus, release } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Figure, markdownTable, skipped, textTable } from './figure.ts'
import { cpuMs, machineBusyMs } from './process-stat.ts'
import { asking } from './scenarios/asking.ts'
import { channels } from './scenarios/channels.ts'
import { full, paced } from './scenarios/cpu-per-run.ts'
import { doors } from './scenarios/doors.ts'
import { growth } from './scenarios/growth.ts'
import { hostile } from './scenarios/hostile.ts'
import { postgres } from './scenarios/postgres.ts'
import type { Scenario } from './scenarios/scenario.ts'
import { sessions } from './scenarios/sessions.ts'
import { idle, start } from './scenarios/start-and-idle.ts'
import { streams } from './scenarios/streams.ts'
import { supervision } from './scenarios/supervision.ts'
import { latency, slowDisk } from './scenarios/token-delay.ts'
import { openStage, type Stage } from './stage.ts'

const scenarios: readonly Scenario[] = [
  ...[full, paced, latency, slowDisk, start, idle, streams, sessions, growth, doors, hostile],
  supervision,
  asking,
  channels,
  postgres,
]
/** Share of one core. The work of the system for us (interrupts, writing back) stays below it. */
const NOTABLE_NOISE = 0.15
const root = join(import.meta.dirname, '..')
const say = (text: string): void => void process.stdout.write(`${text}\n`)

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      only: { type: 'string' },
      seconds: { type: 'string' },
      json: { type: 'string' },
      server: { type: 'string', default: join(root, 'bin', 'quarterdeck.js') },
    },
  })
  const chosen = choose(values.only)
  const seconds = values.seconds === undefined ? null : Number(values.seconds)
  if (seconds !== null && !(seconds >= 1)) throw new Error('--seconds must be a number of 1 or more')
  if (process.platform !== 'linux') throw new Error('The bench reads /proc. Run it on Linux, or in a container.')

  const stage = await openStage({ serverScript: values.server })
  const stopOnSignal = (): void => void stage.close().then(() => process.exit(130))
  process.once('SIGINT', stopOnSignal).once('SIGTERM', stopOnSignal)
  const figures: Figure[] = []
  try {
    for (const remark of stage.remarks) say(remark)
    for (const scenario of chosen) figures.push(...(await runScenario(scenario, stage, seconds)))
  } finally {
    await stage.close()
  }

  const conditions = conditionsOf(stage.remarks, seconds)
  say(`\n${conditions.join('\n')}\n\n${textTable(figures)}`)
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ conditions, figures }, null, 2)}\n`)
  writeResults(conditions, figures, chosen)
  if (figures.some((figure) => figure.outcome === 'missed')) process.exitCode = 1
}

/** Scenarios with a section of their own in RESULTS.md, which a partial run writes as well. */
const sections = [
  { scenario: supervision, title: '## Supervision', about: 'Agents that work elsewhere.' },
  {
    scenario: asking,
    title: '## Asking',
    about: 'How often agents elsewhere ask a person, by what four real hosts did in recorded tasks (`test/asking`).',
  },
  {
    scenario: postgres,
    title: '## Postgres',
    about: 'Servers on a Postgres that runs on the same machine, against the same server on SQLite.',
  },
]

function writeResults(conditions: readonly string[], figures: readonly Figure[], chosen: readonly Scenario[]): void {
  const path = join(import.meta.dirname, 'RESULTS.md')
  const [main = '', ...kept] = readFileSync(path, 'utf8').split(/^(?=## )/m)
  const isIn = (name: string): boolean => sections.some(({ scenario }) => scenario.name === name)
  const rest = figures.filter(({ scenario }) => !isIn(scenario))
  const parts = sections.map(({ scenario, title, about }) => {
    if (!chosen.includes(scenario)) return kept.find((part) => part.startsWith(`${title}\n`)) ?? ''
    const own = figures.filter((figure) => figure.scenario === scenario.name)
    return `${title}\n\n${about} Written by \`npm run bench -- --only ${scenario.name}\`.\n\n${table(conditions, own)}`
  })
  const all = [chosen.length === scenarios.length ? page(conditions, rest) : main, ...parts]
  writeFileSync(path, `${all.flatMap((part) => part.trim() || []).join('\n\n')}\n`)
}

function choose(only: string | undefined): readonly Scenario[] {
  if (only === undefined) return scenarios
  return only.split(',').map((name) => {
    const found = scenarios.find((scenario) => scenario.name === name.trim())
    if (found === undefined) {
      throw new Error(
        `There is no scenario ${JSON.stringify(name)}. The scenarios are ${scenarios.map((s) => s.name).join(', ')}.`,
      )
    }
    return found
  })
}

/** A scenario that throws counts as a missed figure, and the others still run. */
async function runScenario(scenario: Scenario, stage: Stage, seconds: number | null): Promise<Figure[]> {
  const begun = performance.now()
  const foreign = foreignCpu()
  let figures: Figure[]
  try {
    figures = await scenario.run(stage, { seconds })
  } catch (error) {
    const reason = error instanceof Error ? error.message.trim().replaceAll('\n', ' / ').slice(0, 400) : String(error)
    figures = [{ ...skipped(scenario.name, reason), what: 'could not be measured', outcome: 'missed' }]
    await stage.clear()
  }
  const noise = (foreignCpu() - foreign) / (performance.now() - begun)
  if (noise > NOTABLE_NOISE) {
    const warning = `noisy: other programs used ${Math.round(noise * 100)} % of a core meanwhile`
    figures = figures.map((figure) => ({ ...figure, note: `${warning}; ${figure.note}` }))
  }
  const took = ((performance.now() - begun) / 1000).toFixed(0)
  for (const { what, value, target, outcome, note } of figures) {
    say(`${scenario.name} (${took} s): ${outcome} ${what} ${value} ${target === '' ? note : `(${target})`}`)
  }
  return figures
}

/** CPU time of all programs that are not part of this bench. */
const foreignCpu = (): number => machineBusyMs() - cpuMs(process.pid)

function conditionsOf(remarks: readonly string[], seconds: number | null): string[] {
  const processors = cpus()
  return [
    `Date: ${new Date().toISOString().slice(0, 16).replace('T', ' ')} UTC`,
    `Machine: ${processors.length} cores (${processors[0]?.model ?? 'unknown'}, ${arch()}), Linux ${release()}`,
    `Node: ${process.version}`,
    ...(seconds === null ? [] : [`Rounds: ${seconds} s (--seconds)`]),
    ...remarks.map((remark) => `Placement: ${remark}`),
  ]
}

function page(conditions: readonly string[], figures: readonly Figure[]): string {
  return `# Results of \`npm run bench\`

Written by \`bench/run.ts\`; do not edit. Read the ratios, not the absolute times: both sides of a ratio come from the same run,
in turn, and each is the median of its rounds. CPU counts user and system time of all threads of the server.

${table(conditions, figures)}`
}

const table = (conditions: readonly string[], figures: readonly Figure[]): string =>
  `${conditions.map((condition) => `- ${condition}`).join('\n')}\n\n${markdownTable(figures)}\n`

if (import.meta.main) {
  await main().catch((error: unknown) => {
    process.stderr.write(`bench: ${error instanceof Error ? error.message : error}\n`)
    process.exitCode = 2
  })
}
