// What 100,000 passages cost on two cores, in CPU and memory:
//   node test/knowledge/scale.ts [PASSAGES]
// The text is that of the fetched documents, in new order. Each phase is a process of its own, so that none measures what another left.

import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import { createQuarterdeck } from '../../src/app/create-quarterdeck.ts'
import { knowledgeFileIn } from '../../src/app/knowledge/knowledge-of.ts'
import { openWork, type WorkSettings } from '../../src/app/knowledge/open-work.ts'
import { createWorkThread } from '../../src/app/knowledge/work-thread.ts'
import { createSystemClock } from '../../src/domain/clock.ts'
import { silentLogger } from '../../src/domain/logger.ts'
import { indexId } from '../../src/knowledge/create-knowledge.ts'
import { corpusFolder, documentsFolder, readManifest, say } from './corpus.ts'
import { byWords } from './open-index.ts'
import { openPath, type Question } from './question.ts'
import { plainText } from './sections.ts'

const PASSAGES = Number(process.argv[2] ?? 100_000)
/** Of this text so many become a passage, about. */
const PARAGRAPHS = 2
const SECTIONS = 60
const QUERIES = 400
const RUNS = 400
/** The demo model takes its time between words. */
const AT_ONCE = 20
const targets = { p95Ms: 60, memoryMb: 80, perSecond: 300, runs: 1.1 }

const folder = join(corpusFolder, `scale-${PASSAGES}`)
const directory = join(folder, 'agent')
const dataDir = join(folder, 'data')
const sources = ['./documents']
const settings = { sources, directory, folders: [directory], ignore: [], embedding: null }
const INDEX = indexId(settings)
const work: WorkSettings = {
  store: { kind: 'sqlite', path: knowledgeFileIn(dataDir), readOnly: false },
  cacheDir: join(dataDir, 'knowledge-extracts'),
  indexes: [{ ...settings, id: INDEX }],
  excluded: [dataDir],
}
const listener = { progress() {}, embed: () => Promise.reject(new Error('there is no embedding')) }

/** Between 0 and 1, always the same. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

function paragraphs(): string[] {
  const documents = readManifest().documents.filter(({ kind }) => kind !== 'pdf')
  return documents.flatMap(({ file, kind }) => {
    const raw = readFileSync(join(documentsFolder, file), 'utf8')
    const text = kind === 'html' ? raw.split(/<(?:p|li|td|dd)\b[^>]*>/i).map(plainText) : raw.split(/\n\s*\n/)
    return text.map((one) => one.replace(/\s+/g, ' ').trim()).filter((one) => one.length > 200 && one.length < 900)
  })
}

function write(): void {
  if (existsSync(join(folder, 'written'))) return
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(join(directory, 'documents'), { recursive: true })
  const random = createRandom(7)
  const all = paragraphs()
  const pick = (): string => all[Math.floor(random() * all.length)] ?? ''
  // Short sections share a passage.
  const files = Math.ceil((PASSAGES / SECTIONS) * 1.16)
  for (let i = 0; i < files; i += 1) {
    const sections = Array.from({ length: SECTIONS }, () => {
      const text = Array.from({ length: PARAGRAPHS }, pick)
      return `## ${text[0]?.split(' ').slice(0, 6).join(' ')}\n\n${text.join('\n\n')}\n`
    })
    writeFileSync(
      join(directory, 'documents', `${String(i).padStart(5, '0')}.md`),
      `# Volume ${i}\n\n${sections.join('\n')}`,
    )
  }
  writeFileSync(join(directory, 'plain.yaml'), 'name: plain\nmodel: { provider: demo }\ninstructions: Help.\n')
  writeFileSync(
    join(directory, 'reader.yaml'),
    `name: reader\nmodel: { provider: demo }\ninstructions: Help.\ntools:\n  - type: knowledge\n    name: handbook\n    source: ${sources[0]}\n`,
  )
  writeFileSync(join(folder, 'written'), '')
}

/** Of this process and of all children that it has waited for, in seconds. */
function cpu(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? []
  return [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0) / 100
}

async function indexAll(): Promise<void> {
  rmSync(dataDir, { recursive: true, force: true })
  mkdirSync(dataDir, { recursive: true })
  const before = cpu()
  const place = await openWork(work, { listener, log: silentLogger })
  await place.update(INDEX)
  const { figures } = await place.look(INDEX)
  await place.close()
  const seconds = cpu() - before
  verdict(
    `indexing: ${figures.passages} passages of ${figures.files} files in ${seconds.toFixed(1)} s of CPU with the readers`,
    figures.passages / seconds,
    'passages per second',
    (rate) => rate >= targets.perSecond,
    `at least ${targets.perSecond}`,
  )
}

/** Questions of people, single codes, frequent words, long texts, and words that nobody has. */
function queries(): string[] {
  const random = createRandom(11)
  const questions: Question[] = JSON.parse(readFileSync(openPath, 'utf8'))
  const texts = paragraphs()
  const words = [
    'the file',
    'how do I use the data of a file',
    'is not in the system when the user has a name',
    'server',
    'die Datei',
    'le fichier de la commande',
    'qwertzuiop',
  ]
  return Array.from({ length: QUERIES }, (_, i) => {
    const text = texts[Math.floor(random() * texts.length)] ?? ''
    if (i % 4 === 0) return words[(i / 4) % words.length] ?? ''
    if (i % 4 === 1)
      return text
        .split(' ')
        .slice(3, 4 + Math.floor(random() * 12))
        .join(' ')
    if (i % 8 === 2) return text.slice(0, 1_000)
    return questions[Math.floor(random() * questions.length)]?.question ?? ''
  })
}

async function search(): Promise<void> {
  const all = queries()
  const clock = createSystemClock()
  globalThis.gc?.()
  await after(500)
  const rss = (): number => process.memoryUsage().rss / 1e6
  const before = rss()
  const place = createWorkThread({ settings: work, listener, restMs: 1_000, clock, log: silentLogger })
  const spent: number[] = []
  let most = 0
  const ask = async (queries: readonly string[]): Promise<void> => {
    // The thread loads its code once.
    await place.search(INDEX, byWords('warm up', 6))
    for (const text of queries) {
      const began = process.cpuUsage()
      await place.search(INDEX, byWords(text, 6))
      const { user, system } = process.cpuUsage(began)
      spent.push((user + system) / 1_000)
      most = Math.max(most, rss())
    }
  }
  const rested = async (): Promise<string> => {
    // V8 keeps the pages of a thread that has ended for some seconds.
    await after(16_000)
    globalThis.gc?.()
    await after(500)
    return `${(rss() - before).toFixed(0)} MB`
  }
  await ask(all)
  const first = await rested()
  const sorted = spent.toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? 0
  say(`search: p50 ${at(0.5).toFixed(1)} ms, p99 ${at(0.99).toFixed(1)} ms, most ${at(1).toFixed(1)} ms of CPU`)
  const slowest = all[spent.indexOf(at(1))] ?? ''
  say(`  the slowest: ${JSON.stringify(slowest.slice(0, 100))}`)
  verdict('search', at(0.95), 'ms of CPU at p95', (ms) => ms <= targets.p95Ms, `at most ${targets.p95Ms}`)
  verdict(
    'memory while searched',
    most - before,
    'MB more',
    (mb) => mb <= targets.memoryMb,
    `at most ${targets.memoryMb}`,
  )
  const one = most
  most = 0
  await ask(all)
  const again = `${(most - before).toFixed(0)} MB, then ${await rested()}`
  say(
    `memory after the rest: ${first} more than before; searched again, ${again}; at first ${(one - before).toFixed(0)} MB`,
  )
}

async function runs(agent: string): Promise<void> {
  const quarterdeck = createQuarterdeck({
    agent: [join(directory, 'plain.yaml'), ...(agent === 'reader' ? [join(directory, 'reader.yaml')] : [])],
    settings: { port: 0, data_dir: dataDir, 'auth.operator_token': 'an-operator-token-for-the-measurement' },
    env: { QUARTERDECK_CONFIG_DIR: join(folder, 'config') },
    log: silentLogger,
  })
  const { url } = await quarterdeck.listen()
  const run = async (): Promise<void> => {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'plain', messages: [{ role: 'user', content: 'Hello' }] }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${response.status} ${text.slice(0, 300)}`)
  }
  // What a start does, and the look at the files, is over.
  const many = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i += AT_ONCE) await Promise.all(Array.from({ length: AT_ONCE }, run))
  }
  await many(100)
  await after(8_000)
  const began = process.cpuUsage()
  await many(RUNS)
  const { user, system } = process.cpuUsage(began)
  say(String((user + system) / 1_000 / RUNS))
  await quarterdeck.close({ drainMs: 0 })
}

function verdict(what: string, figure: number, unit: string, fits: (figure: number) => boolean, target: string): void {
  say(`${what}: ${figure.toFixed(figure < 10 ? 2 : 0)} ${unit} (${target}: ${fits(figure) ? 'yes' : 'NO'})`)
}

const phase = process.argv[3]
const child = (...args: string[]): string =>
  execFileSync(process.execPath, ['--expose-gc', import.meta.filename, String(PASSAGES), ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })

if (phase === 'index') await indexAll()
else if (phase === 'search') await search()
else if (phase === 'runs') await runs(process.argv[4] ?? '')
else {
  write()
  if (!existsSync(knowledgeFileIn(dataDir)) || !process.argv.includes('--kept')) process.stdout.write(child('index'))
  process.stdout.write(child('search'))
  const rounds = Array.from({ length: 3 }, () => [Number(child('runs', 'plain')), Number(child('runs', 'reader'))])
  const [without, beside] = [0, 1].map((at) => Math.min(...rounds.map((round) => round[at] ?? 0)))
  verdict(
    `a plain run: ${without?.toFixed(2)} ms of CPU, beside an index ${beside?.toFixed(2)} ms`,
    (beside ?? 0) / (without ?? 1),
    'as much',
    (ratio) => ratio <= targets.runs,
    `at most ${targets.runs}`,
  )
}
