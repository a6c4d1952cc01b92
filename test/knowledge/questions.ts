// Makes the questions of the proof by rule, before anything is measured:
//   node test/knowledge/questions.ts
// The same documents give the same questions. Half of them is sealed: who works on the search never sees those that it misses.

import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import {
  type CorpusDocument,
  corpusFolder,
  documentsFolder,
  type Manifest,
  manifestPath,
  readManifest,
  type Seal,
  say,
  sealPath,
} from './corpus.ts'
import { type Kind, type Language, languages } from './packages.ts'
import type { Question, QuestionKind } from './question.ts'
import { bare, openPath, sealedPath } from './question.ts'
import { asks, forms, synonyms } from './question-words.ts'
import { isIn, plainText, type Section, sectionsOf } from './sections.ts'

const SEED = 'quarterdeck-knowledge-1'
const QUESTIONS = 1_000
const SHARES: Record<Language, number> = { en: 340, de: 120, fr: 120, es: 110, it: 110, ja: 110, zh: 90 }
const KINDS: Record<QuestionKind, number> = { heading: 0.3, paraphrase: 0.3, term: 0.15, code: 0.15, index: 0.1 }
const MOST_OF_A_FILE = 3
/** Letters and digits of what the right passage says. Long enough to be there once. */
const PROOF = 36
/** A word that more files have says little of where it is from. */
const MOST_USED = 100

type Candidate = Question & { document: CorpusDocument }

const hash = (text: string): string => createHash('sha256').update(`${SEED}\n${text}`).digest('hex')
const chosen = <T>(of: readonly T[], text: string): T =>
  of[Number.parseInt(hash(text).slice(0, 8), 16) % of.length] as T

const isEastern = (language: Language): boolean => language === 'ja' || language === 'zh'

interface Read {
  document: CorpusDocument
  sections: readonly Section[]
  text: string
}

async function main(): Promise<void> {
  const manifest = readManifest()
  const read: Read[] = []
  for (const document of manifest.documents) {
    const sections = await sectionsOf(document)
    const raw =
      document.kind === 'pdf'
        ? sections.map((one) => one.text).join('\n')
        : readFileSync(join(documentsFolder, document.file), 'utf8')
    read.push({ document, sections, text: document.kind === 'html' ? plainText(raw) : raw })
  }
  const found = candidates(read)
  const unique = withoutAmbiguous(found, read)
  const questions = balanced(unique)
  const half = (isSealed: boolean): Question[] =>
    questions.filter(({ id }) => Number.parseInt(hash(`half ${id}`).slice(0, 2), 16) % 2 === (isSealed ? 1 : 0))
  writeFileSync(openPath, `${JSON.stringify(half(false), null, 1)}\n`)
  writeFileSync(sealedPath, `${JSON.stringify(half(true), null, 1)}\n`)
  say(`${found.length} candidates, ${unique.length} of them are unambiguous`)
  report(questions)
  seal(manifest, half(false).length, half(true).length)
}

function seal(manifest: Manifest, open: number, sealed: number): void {
  const sha256 = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex')
  const now: Seal = {
    manifest: sha256(manifestPath),
    open: sha256(openPath),
    sealed: sha256(sealedPath),
    documents: manifest.documents.length,
    questions: { open, sealed },
  }
  const text = `${JSON.stringify(now, null, 2)}\n`
  if (!existsSync(sealPath) || process.argv.includes('--seal')) writeFileSync(sealPath, text)
  const isSame = readFileSync(sealPath, 'utf8') === text
  say(
    isSame
      ? 'They are those that are sealed in seal.json.'
      : 'They are NOT those of seal.json: Debian has other versions of its packages now.',
  )
}

function candidates(read: readonly Read[]): Candidate[] {
  const files = new Map(read.map((one) => [one.document.file, one]))
  const words = frequencies(read)
  return read.flatMap((one) => [
    ...headingQuestions(one),
    ...paraphrases(one, words.get(one.document.language) ?? new Map()),
    ...termQuestions(one),
    ...codeQuestions(one),
    ...indexQuestions(one, files),
  ])
}

function make(
  kind: QuestionKind,
  { document }: Read,
  { heading, page }: Section,
  question: string,
  contains: string,
): Candidate {
  const { file, language } = document
  const id = hash(`${kind} ${file} ${heading} ${question}`).slice(0, 16)
  return {
    id,
    kind,
    language,
    of: document.kind,
    file,
    heading,
    page,
    contains: bare(contains).slice(0, PROOF),
    question,
    document,
  }
}

const isUsable = ({ text, heading }: Section, language: Language): boolean =>
  text.length >= (isEastern(language) ? 80 : 200) && text.length < 12_000 && heading.length < 90 && isIn(language, text)

function headingQuestions(one: Read): Candidate[] {
  const { language } = one.document
  return one.sections.flatMap((section) => {
    const { heading, text } = section
    const words = heading.match(/[\p{L}\p{N}_-]{3,}/gu)?.length ?? 0
    if (!isUsable(section, language) || (isEastern(language) ? bare(heading).length < 5 : words < 3)) return []
    const bareHeading = heading.replace(/^[\d.]+\s+|[:?.]$/g, '')
    return [make('heading', one, section, filled(asks[language].heading, bareHeading), text)]
  })
}

const filled = (templates: readonly string[], text: string): string => chosen(templates, text).replace('#', () => text)

function paraphrases(one: Read, words: ReadonlyMap<string, number>): Candidate[] {
  const { language } = one.document
  return one.sections.flatMap((section) => {
    if (!isUsable(section, language)) return []
    const sentence = firstSentence(section.text, language)
    if (sentence === null) return []
    const question = isEastern(language) ? easternParaphrase(sentence, language) : paraphrase(sentence, language, words)
    return question === null ? [] : [make('paraphrase', one, section, question, sentence)]
  })
}

function firstSentence(text: string, language: Language): string | null {
  const flat = text.replace(/\s+/g, ' ').trim()
  const end = isEastern(language) ? flat.search(/[。!?!?]/) : flat.search(/[.!?](?:\s+\p{Lu}|$)/u)
  const sentence = end === -1 ? '' : flat.slice(0, end)
  const words = sentence.split(' ').length
  const fits = isEastern(language) ? sentence.length >= 25 && sentence.length <= 120 : words >= 10 && words <= 40
  return fits && !/[{}|\\]|::|https?:|\.{3}|\(\d\w?\).*\(\d\w?\)/.test(sentence) ? sentence : null
}

/** Its rarest words are lost, others have another form or are another word, and its halves have changed places. */
function paraphrase(sentence: string, language: Language, frequency: ReadonlyMap<string, number>): string | null {
  const tokens = sentence.split(' ')
  const plain = tokens.map((token) => token.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, ''))
  const rarest = plain
    .map((word, i) => ({ i, count: frequency.get(word.toLowerCase()) ?? 0, isWord: /\p{L}{3}/u.test(word) }))
    .filter(({ isWord }) => isWord)
    .sort((a, b) => a.count - b.count || a.i - b.i)
  const lost = new Set(rarest.slice(0, Math.max(1, Math.floor(rarest.length * 0.15))).map(({ i }) => i))
  const swapped = plain.map((word, i) => (i % 3 === 0 ? formOf(word, language) : (synonymOf(word, language) ?? word)))
  const kept = swapped.filter((word, i) => word !== '' && !lost.has(i))
  const says = kept.filter((word) => /\p{L}{4}/u.test(word) && (frequency.get(word.toLowerCase()) ?? 0) < MOST_USED)
  if (says.length < 5) return null
  const middle = Math.floor(kept.length / 2)
  return [...kept.slice(middle), ...kept.slice(0, middle)].join(' ')
}

function formOf(word: string, language: Language): string {
  const form = forms[language]?.find(([ending]) => ending.test(word))
  return form === undefined ? word : word.replace(form[0], form[1])
}

const synonymOf = (word: string, language: Language): string | undefined =>
  synonyms[language].flatMap(([a, b]) => (word === a ? [b] : word === b ? [a] : []))[0]

/** The longest of its clauses, or two of three, with other words. */
function easternParaphrase(sentence: string, language: Language): string | null {
  const clauses = sentence.split(/[、,,;;]/).filter((clause) => clause.trim() !== '')
  const kept =
    clauses.length < 2
      ? sentence
      : clauses.length === 2
        ? (clauses.toSorted((a, b) => b.length - a.length)[0] ?? '')
        : `${clauses[1]} ${clauses[0]}`
  const swapped = synonyms[language].reduce(
    (text, [a, b]) => (text.includes(a) ? text.replaceAll(a, b) : text.replaceAll(b, a)),
    kept,
  )
  return swapped.length < 16 || swapped === sentence
    ? null
    : chosen(asks[language].heading, sentence).replace('#', () => swapped.trim())
}

function termQuestions(one: Read): Candidate[] {
  const { language, kind, file } = one.document
  const program = kind === 'manual' ? (/([^/]+)\.\w+\.txt$/.exec(file)?.[1] ?? '') : ''
  return one.sections.flatMap((section) =>
    section.definitions.flatMap(({ term, text }) => {
      const name =
        term
          .split(/,\s|\s{2,}/)
          .toSorted((a, b) => b.length - a.length)[0]
          ?.replace(/[;:,]+$/, '')
          .trim() ?? ''
      if (name.length < 4 || name.length > 60 || text.length < 60 || !isIn(language, text) || /[.!?]$/.test(name))
        return []
      const asked = program !== '' && name.startsWith('-') ? `${program} ${name}` : name
      return [make('term', one, section, filled(asks[language].term, asked), text)]
    }),
  )
}

/** Error codes, names of functions and options, numbers of standards: what is looked for exactly. */
const CODE =
  /(?<![\w/.-])(?:--[a-z]{3,}(?:-[a-z]{2,})+|[A-Z]{2,}[-_ ]?\d{2,}|[A-Za-z]+(?:_[A-Za-z0-9]+){2,}|[a-z]+(?:[A-Z][a-z]+){2,}|0x[\da-fA-F]{4,}|\d{3,5}-\d{2,5})(?![\w/-])/g

function codeQuestions(one: Read): Candidate[] {
  const { language } = one.document
  return one.sections.flatMap((section) => {
    if (!isUsable(section, language)) return []
    const found = [...section.text.matchAll(CODE)].filter(([code]) => code.length >= 6 && code.length <= 40)
    return found.slice(0, 4).map((match) => make('code', one, section, filled(asks[language].code, match[0]), match[0]))
  })
}

/** Entries of an index that lead to a place in a file, and the lines by which manual pages are found. */
function indexQuestions(one: Read, files: ReadonlyMap<string, Read>): Candidate[] {
  const { document, text } = one
  const { language } = document
  if (document.kind === 'manual') {
    const said = one.sections[0]?.text
      .replace(/\s+/g, ' ')
      .trim()
      .match(/^[^ ]+(?:, [^ ]+)* (?:[-–—]|\\-)+ (.{25,120})$/)?.[1]
    const section = one.sections[0]
    if (said === undefined || section === undefined || !isIn(language, text)) return []
    return [make('index', one, section, filled(asks[language].heading, said), said)]
  }
  if (document.kind !== 'html') return []
  const raw = readFileSync(join(documentsFolder, document.file), 'utf8')
  return [...raw.matchAll(/<a\b[^>]*\shref="([^"#:]+)#([^"]+)"[^>]*>([\s\S]{4,120}?)<\/a>/g)].flatMap((link) => {
    const entry = plainText(link[3] ?? '')
      .replace(/^[\d.]+\s+/, '')
      .trim()
    const target = files.get(posix.join(posix.dirname(document.file), link[1] ?? ''))
    const section = target?.sections.find(({ anchors }) => anchors.includes(link[2] ?? ''))
    const isNumber = (entry.match(/\p{L}/gu)?.length ?? 0) < entry.length * 0.6
    if (target === undefined || section === undefined || isNumber || !isUsable(section, target.document.language))
      return []
    if (isEastern(language) ? bare(entry).length < 5 : entry.split(/[\s-]+/).length < 2) return []
    // The words of the heading itself are asked elsewhere.
    const bareHeading = bare(section.heading.replace(/^[\d.]+\s+/, ''))
    if (bare(entry).includes(bareHeading) || bareHeading.includes(bare(entry)) || target === one) return []
    return [make('index', target, section, filled(asks[language].heading, entry), section.text)]
  })
}

function frequencies(read: readonly Read[]): ReadonlyMap<Language, ReadonlyMap<string, number>> {
  const counts = new Map<Language, Map<string, number>>(languages.map((one) => [one, new Map()]))
  for (const { document, sections } of read) {
    const own = counts.get(document.language)
    const words = new Set(sections.flatMap(({ text }) => text.toLowerCase().match(/\p{L}+/gu) ?? []))
    for (const word of words) own?.set(word, (own.get(word) ?? 0) + 1)
  }
  return counts
}

/** Asks for one place only: heading and question are there once, and what the passage says stands in one file. */
function withoutAmbiguous(found: readonly Candidate[], read: readonly Read[]): Candidate[] {
  const headings = counted(
    read.flatMap(({ document, sections }) => sections.map((one) => `${document.file}\n${bare(one.heading)}`)),
  )
  const inFiles = counted(
    [
      ...new Set(
        read.flatMap(({ document, sections }) => sections.map((one) => `${document.file}\n${bare(one.heading)}`)),
      ),
    ].map((one) => one.slice(one.indexOf('\n') + 1)),
  )
  const questions = counted([...new Map(found.map((one) => [one.id, one])).values()].map((one) => bare(one.question)))
  const terms = counted(
    read.flatMap(({ sections }) => [
      ...new Set(sections.flatMap((one) => one.definitions.map(({ term }) => bare(term)))),
    ]),
  )
  const codes = counted(read.flatMap(({ text }) => [...new Set([...text.matchAll(CODE)].map(([code]) => code))]))
  const once = new Map(found.map((one) => [one.id, one]))
  const likely = [...once.values()].filter((one) => {
    if (questions.get(bare(one.question)) !== 1) return false
    if (one.kind === 'code') return codes.get(one.question.match(CODE)?.[0] ?? '') === 1 && one.contains.length >= 5
    if (one.contains.length < 20) return false
    if (one.kind === 'heading')
      return inFiles.get(bare(one.heading)) === 1 && headings.get(`${one.file}\n${bare(one.heading)}`) === 1
    if (one.kind === 'term') {
      const section = read
        .find(({ document }) => document === one.document)
        ?.sections.flatMap(({ definitions }) => definitions)
      const term = section?.find(({ text }) => bare(text).startsWith(one.contains))?.term ?? ''
      return terms.get(bare(term)) === 1
    }
    return true
  })
  const elsewhere = inOtherFiles(likely, read)
  return likely.filter((one) => one.kind === 'code' || !elsewhere.has(one.id))
}

const counted = (keys: readonly string[]): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1)
  return counts
}

/** Those whose proof stands in another file too. A sum that moves along finds them all in one pass. */
function inOtherFiles(found: readonly Candidate[], read: readonly Read[]): ReadonlySet<string> {
  const WINDOW = 20
  const BASE = 65_599
  let power = 1
  for (let i = 1; i < WINDOW; i += 1) power = Math.imul(power, BASE)
  const bySum = new Map<number, Candidate[]>()
  for (const one of found) {
    if (one.contains.length < WINDOW) continue
    let sum = 0
    for (let i = 0; i < WINDOW; i += 1) sum = (Math.imul(sum, BASE) + one.contains.charCodeAt(i)) | 0
    bySum.set(sum, [...(bySum.get(sum) ?? []), one])
  }
  const elsewhere = new Set<string>()
  for (const { document, text, sections } of read) {
    const all = bare(document.kind === 'pdf' ? sections.map((one) => one.text).join('\n') : text)
    let sum = 0
    for (let i = 0; i < all.length; i += 1) {
      if (i >= WINDOW) sum = (sum - Math.imul(all.charCodeAt(i - WINDOW), power)) | 0
      sum = (Math.imul(sum, BASE) + all.charCodeAt(i)) | 0
      for (const one of bySum.get(sum) ?? [])
        if (one.file !== document.file && all.startsWith(one.contains.slice(0, WINDOW), i - WINDOW + 1))
          elsewhere.add(one.id)
    }
  }
  return elsewhere
}

/** Of each language and kind of question its share, and of those each kind of document and each package in turn. */
function balanced(found: readonly Candidate[]): Question[] {
  const perFile = new Map<string, number>()
  const taken = new Set<string>()
  const questions: Candidate[] = []
  const take = (from: readonly Candidate[], most: number): number => {
    const queues = Object.values(Object.groupBy(from, (one) => one.of)).map((some = []) =>
      Object.values(Object.groupBy(some, (one) => one.document.package)).map((own = []) =>
        own.toSorted((a, b) => (hash(a.id) < hash(b.id) ? -1 : 1)),
      ),
    )
    let count = 0
    for (let turn = 0; count < most && queues.some((packages) => packages.some((own) => own.length > 0)); turn += 1) {
      for (const packages of queues) {
        const full = packages.filter((own) => own.length > 0)
        const one = full[turn % Math.max(1, full.length)]?.shift()
        if (one === undefined || count >= most || taken.has(one.id) || (perFile.get(one.file) ?? 0) >= MOST_OF_A_FILE)
          continue
        taken.add(one.id)
        perFile.set(one.file, (perFile.get(one.file) ?? 0) + 1)
        questions.push(one)
        count += 1
      }
    }
    return count
  }
  for (const language of languages) {
    const own = found.filter((one) => one.language === language)
    let left = SHARES[language]
    // The rare kinds first: what they lack goes to headings and paraphrases.
    for (const kind of ['index', 'code', 'term', 'paraphrase', 'heading'] as const) {
      const most = kind === 'heading' ? left : Math.min(left, Math.round(SHARES[language] * KINDS[kind]))
      left -= take(
        own.filter((one) => one.kind === kind),
        most,
      )
    }
    if (left > 0)
      take(
        own.filter((one) => one.kind === 'paraphrase'),
        left,
      )
  }
  return questions
    .slice(0, QUESTIONS)
    .map(({ document: _, ...question }) => question)
    .sort((a, b) => (a.id < b.id ? -1 : 1))
}

function report(questions: readonly Question[]): void {
  const count = (by: (one: Question) => string): string =>
    Object.entries(Object.groupBy(questions, by))
      .map(([name, some]) => `${name} ${some?.length}`)
      .join(', ')
  say(`${questions.length} questions`)
  say(`  ${count((one) => one.kind)}`)
  say(`  ${count((one) => one.language)}`)
  say(`  ${count((one) => one.of satisfies Kind)}`)
}

if (!existsSync(corpusFolder)) throw new Error('Fetch the documents first: node test/knowledge/fetch.ts')
await main()
