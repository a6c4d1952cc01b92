// The tables of bench/SCALE.md, made from the constants. `node bench/scale/tables.ts` writes them into the page; a test compares.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { measuredConstants, type ScaleConstants } from './constants.ts'
import { type Changes, type Load, type Prediction, predict } from './cost-model.ts'

/** Every number with its name. */
function constantRows(value: object, path = ''): [name: string, value: number][] {
  return Object.entries(value).flatMap(([key, one]): [string, number][] => {
    const name = path === '' ? key : `${path}.${key}`
    if (typeof one === 'number') return [[name, one]]
    return typeof one === 'object' && one !== null ? constantRows(one, name) : []
  })
}

const base: Load = {
  replicas: 3,
  streams: 1_000,
  tokensPerSecond: 5,
  tokensPerRun: 200,
  elsewhere: 0.1,
  cores: 8,
}

const changed: Changes = { targetedLooks: true, targetedWakes: true, groupMs: 50 }

/** Cores are not a limit here: the table says how many it takes. */
const ENOUGH = 1e6

const at = (constants: ScaleConstants, size: number, changes: Changes): Prediction =>
  predict(constants, {
    ...base,
    replicas: Math.round(base.replicas * size),
    streams: base.streams * size,
    cores: ENOUGH,
    changes,
  })

function scaleTable(constants: ScaleConstants, changes: Changes): string {
  const sizes = [1, 10, 100, 1_000]
  const all = sizes.map((size) => at(constants, size, changes))
  const line = (name: string, value: (one: Prediction) => number) =>
    `| ${name} | ${all.map((one) => short(value(one))).join(' | ')} |`
  const tasks = Object.keys(all[0]?.databaseCores ?? {}) as (keyof Prediction['databaseCores'])[]
  return [
    `| | ${sizes.map((size) => `${short(size)}×`).join(' | ')} |`,
    `|---|${sizes.map(() => '---:|').join('')}`,
    line('tokens/s', (one) => one.tokensPerSecond),
    line('runs/s', (one) => one.runsPerSecond),
    line('commits/s', (one) => one.groupsPerSecond),
    line('NOTIFY/s', (one) => one.wakesPerSecond),
    line('statements/s', (one) => one.queriesPerSecond),
    line('WAL, MB/s', (one) => one.walBytesPerSecond / 1e6),
    ...tasks.map((task) => line(`database cores: ${task}`, (one) => one.databaseCores[task])),
    line('database cores', (one) => one.busyCores),
    line('cores of one replica', (one) => one.replicaCores),
    line('connections, quiet', (one) => one.connections.quiet),
    line('connections, at most', (one) => one.connections.most),
  ].join('\n')
}

function short(value: number): string {
  if (value >= 100) return Number(value.toPrecision(3)).toLocaleString('en')
  return String(Number(value.toPrecision(2)))
}

/** What a size of the base load is limited by, and how much of it there is. */
const limits: readonly { what: string; most: number; of: (one: Prediction, constants: ScaleConstants) => number }[] = [
  { what: 'cores of the database: text', most: base.cores, of: ({ databaseCores }) => databaseCores.text },
  { what: 'cores of the database: runs', most: base.cores, of: ({ databaseCores }) => databaseCores.runs },
  { what: 'cores of the database: wakes', most: base.cores, of: ({ databaseCores }) => databaseCores.wakes },
  {
    what: 'cores of the database: looks at ended runs',
    most: base.cores,
    of: ({ databaseCores }) => databaseCores['looks at ended runs'],
  },
  {
    what: 'cores of the database: looks for dead replicas',
    most: base.cores,
    of: ({ databaseCores }) => databaseCores['looks for dead replicas'],
  },
  {
    what: 'cores of the database: readers elsewhere',
    most: base.cores,
    of: ({ databaseCores }) => databaseCores['readers elsewhere'],
  },
  { what: 'cores of the database: all together', most: base.cores, of: ({ busyCores }) => busyCores },
  {
    what: 'the lock of NOTIFY, held by one sender at a time',
    most: 1,
    of: ({ wakesPerSecond }, { notify }) => (wakesPerSecond * notify.databaseUs.send) / 1e6,
  },
  { what: 'WAL, 200 MB/s', most: 200, of: ({ walBytesPerSecond }) => walBytesPerSecond / 1e6 },
  { what: 'connections, 500 while it is quiet', most: 500, of: ({ connections }) => connections.quiet },
  { what: 'the core of a replica', most: 1, of: ({ replicaCores }) => replicaCores },
]

const MOST = 1e5

/** At which size each limit alone is reached, the first one first. */
function limitTable(constants: ScaleConstants, changes: Changes): string {
  const rows = limits.map(({ what, most, of }) => {
    let [low, high] = [1, MOST]
    while (high / low > 1.01) {
      const middle = Math.sqrt(low * high)
      if (of(at(constants, middle, changes), constants) < most) low = middle
      else high = middle
    }
    return { what, size: low }
  })
  const show = (size: number) => (size > MOST / 2 ? 'never' : `${short(size)}×`)
  const sorted = rows.toSorted((a, b) => a.size - b.size)
  return [
    '| limit | reached at |',
    '|---|---:|',
    ...sorted.map(({ what, size }) => `| ${what} | ${show(size)} |`),
  ].join('\n')
}

const constantTable = (constants: ScaleConstants): string =>
  [
    '| constant | value |',
    '|---|---:|',
    ...constantRows(constants).map(([name, value]) => `| \`${name}\` | ${value} |`),
  ].join('\n')

/** By the name of the place in the page. */
export const tables = (constants: ScaleConstants): Record<string, string> => ({
  constants: constantTable(constants),
  sizes: scaleTable(constants, {}),
  limits: limitTable(constants, {}),
  'sizes after the changes': scaleTable(constants, changed),
  'limits after the changes': limitTable(constants, changed),
})

const placeOf = (name: string) => new RegExp(`(<!-- ${name} -->\\n)[^]*?(<!-- end -->)`)

export function tableIn(page: string, name: string): string | null {
  return placeOf(name).exec(page)?.[0].split('\n').slice(1, -1).join('\n') ?? null
}

if (import.meta.main) {
  const path = join(import.meta.dirname, '../SCALE.md')
  let page = readFileSync(path, 'utf8')
  for (const [name, table] of Object.entries(tables(measuredConstants)))
    page = page.replace(placeOf(name), (_, begin: string, end: string) => `${begin}${table}\n${end}`)
  writeFileSync(path, page)
}
