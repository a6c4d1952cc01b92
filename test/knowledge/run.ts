// Asks all questions and prints how many are answered:
//   node test/knowledge/run.ts [--misses]
// Of the sealed half only the figures are shown.

import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Passage } from '../../src/domain/knowledge/passage.ts'
import type { WorkPlace } from '../../src/knowledge/create-knowledge.ts'
import { corpusFolder, documentsFolder, manifestPath, type Seal, say, sealPath } from './corpus.ts'
import { byWords, hitsOf, INDEX, openIndex } from './open-index.ts'
import { bare, isAnswer, openPath, type Question, sealedPath } from './question.ts'

const TARGET = 0.9
const MOST = 10

interface Asked {
  question: Question
  /** From 1; null: not among the first ten. */
  place: number | null
  found: readonly Passage[]
}

async function main(): Promise<void> {
  const seal: Seal = JSON.parse(readFileSync(sealPath, 'utf8'))
  const hashOf = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex')
  const isSealed = hashOf(openPath) === seal.open && hashOf(sealedPath) === seal.sealed
  say(isSealed ? 'The questions are those of seal.json.' : 'The questions are NOT those of seal.json.')
  if (hashOf(manifestPath) !== seal.manifest) say('The documents are NOT those of seal.json.')

  const work = await openIndex({ documents: documentsFolder, path: join(corpusFolder, 'index/knowledge.db') })
  try {
    const began = process.cpuUsage()
    const { read } = await work.update(INDEX)
    const { user, system } = process.cpuUsage(began)
    const { figures, problems } = await work.look(INDEX)
    say(`${figures.files} files (${read} read now), ${figures.passages} passages, ${figures.problems} with a problem`)
    if (read > 0) say(`${((user + system) / 1e6).toFixed(1)} s of CPU without that of the readers' children`)
    for (const { path, problem } of problems.slice(0, 20)) say(`  ${path}: ${problem}`)

    const open = await ask(work, JSON.parse(readFileSync(openPath, 'utf8')))
    const sealed = await ask(work, JSON.parse(readFileSync(sealedPath, 'utf8')))
    print('open', open)
    print('sealed', sealed)
    const unread = await unreadFiles(work)
    if (process.argv.includes('--misses')) await misses(work, open, unread)
    const isReached = [open, sealed].every((all) => within(all, 5) >= TARGET)
    say(`recall@5 of at least ${TARGET} in both halves: ${isReached ? 'yes' : 'NO'}`)
    if (!isReached) process.exitCode = 1
  } finally {
    await work.close()
  }
}

/** With a problem, or left out without one. */
async function unreadFiles(work: WorkPlace): Promise<Set<string>> {
  const { problems } = await work.look(INDEX)
  return new Set(problems.filter(({ document }) => document === null).map(({ path }) => path))
}

async function ask(work: WorkPlace, questions: readonly Question[]): Promise<Asked[]> {
  const all: Asked[] = []
  for (const question of questions) {
    const hits = await hitsOf(work, byWords(question.question, MOST))
    // Passages that come along with a hit take places too.
    const found = hits.slice(0, MOST).map(({ passage }) => passage)
    const at = found.findIndex((passage) => isAnswer(question, passage))
    all.push({ question, place: at === -1 ? null : at + 1, found })
  }
  return all
}

const within = (all: readonly Asked[], most: number): number =>
  all.length === 0 ? 0 : all.filter(({ place }) => place !== null && place <= most).length / all.length

function print(name: string, all: readonly Asked[]): void {
  const row = (label: string, some: readonly Asked[]): string => {
    const mrr = some.reduce((sum, { place }) => sum + (place === null ? 0 : 1 / place), 0) / Math.max(1, some.length)
    const figures = [within(some, 1), within(some, 5), within(some, 10), mrr].map((one) => one.toFixed(3).padStart(7))
    return `${label.padEnd(22)}${String(some.length).padStart(5)}${figures.join('')}`
  }
  say(`\n${name.padEnd(22)}    n    @1     @5     @10    MRR`)
  say(row('all', all))
  for (const by of ['language', 'of', 'kind'] as const)
    for (const [label, some = []] of Object.entries(Object.groupBy(all, ({ question }) => question[by])).sort())
      say(row(`  ${by === 'of' ? 'document' : by} ${label}`, some))
}

/** What is probably the reason, from what was found. */
async function misses(work: WorkPlace, all: readonly Asked[], unread: ReadonlySet<string>): Promise<void> {
  const missed = all.filter(({ place }) => place === null || place > 5)
  const reasons: [string, Asked][] = []
  for (const one of missed) reasons.push([await reasonOf(work, one, unread), one])
  say('\nmisses of the open half')
  for (const [reason, some = []] of Object.entries(Object.groupBy(reasons, ([reason]) => reason)).sort()) {
    say(`${String(some.length).padStart(5)}  ${reason}`)
  }
  const lines = reasons.map(([reason, { question, place, found }]) => ({
    reason,
    ...{ place, question },
    found: found.slice(0, 5).map(({ file, headings, text }) => ({ file, headings, text: text.slice(0, 160) })),
  }))
  writeFileSync(join(corpusFolder, 'misses.open.json'), JSON.stringify(lines, null, 1))
}

async function reasonOf(
  work: WorkPlace,
  { question, place, found }: Asked,
  unread: ReadonlySet<string>,
): Promise<string> {
  if (unread.has(question.file)) return 'the file was not read'
  if (place !== null) return 'it comes at place 6 to 10'
  const hits = await hitsOf(work, byWords(question.question, 200))
  const at = hits.findIndex(({ passage }) => isAnswer(question, passage))
  if (found.slice(0, 5).some(({ file }) => file === question.file)) return 'another part of the same file'
  const words = question.question.toLowerCase().match(/\p{L}{4,}/gu) ?? []
  const share = (text: string): number =>
    words.filter((word) => bare(text).includes(word)).length / Math.max(1, words.length)
  const best = Math.max(0, ...found.slice(0, 3).map(({ headings, text }) => share(`${headings.join(' ')} ${text}`)))
  const own = hits[at]?.passage
  if (own === undefined) return 'no passage of the item among the first 200'
  return best >= share(`${own.headings.join(' ')} ${own.text}`)
    ? 'another document has as many of the words'
    : 'ranked too low'
}

await main()
