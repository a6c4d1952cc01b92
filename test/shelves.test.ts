// The rules of the four shelves: how long pages are, how they begin and end, and that every block is checked or says that it is not.

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { createAppStarter } from '../src/cli/commands/serve/start-app.ts'
import { createProgram } from '../src/cli/program.ts'
import { createTestIo } from '../src/cli/testing/test-io.ts'

const root = join(import.meta.dirname, '..')
const read = (file: string): string => readFileSync(join(root, file), 'utf8')
const shelf = (name: string): string[] => globSync(`docs/${name}/*.md`, { cwd: root }).toSorted()
const onShelves = ['learn', 'do', 'look-up', 'understand'].flatMap(shelf)
const pages = ['README.md', 'CONTRIBUTING.md', 'RELEASING.md', 'SECURITY.md', 'docs/README.md', ...onShelves]

const FENCE = /^( *)```([^\n]*)\n([\s\S]*?)^\1```$/gm
const blocksOf = (page: string) =>
  [...read(page).matchAll(FENCE)].map(([, , marks = '', code = '']) => ({ page, marks, code }))

// What lasts (memory, skills, schedules, summaries, sign-ins and apps of MCP servers) came with three pages of Do, with routes, commands and
// keys in the tables of Look up, and with a part of the tutorial: 67,800 words. Documents of agents came with a page of Do, and with rows in
// the tables of keys, routes and commands: 71,000, and 1% to correct them.
test('all pages together have at most 71,700 words, and the README 150 lines', () => {
  const words = pages.reduce((sum, page) => sum + read(page).split(/\s+/).filter(Boolean).length, 0)
  expect(words).toBeLessThanOrEqual(71_700)
  expect(read('README.md').split('\n').length).toBeLessThanOrEqual(151)
})

test.each(pages)('%s has no paragraph of more than 90 words', (page) => {
  const paragraphs = read(page)
    .replace(FENCE, '')
    .split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )/)
    .filter((paragraph) => !paragraph.trimStart().startsWith('|'))
  expect(paragraphs.filter((paragraph) => paragraph.split(/\s+/).length > 90)).toEqual([])
})

test.each([...shelf('learn'), ...shelf('do'), ...shelf('understand')])(
  '%s says what it needs and what comes next',
  (page) => {
    const lines = read(page).trimEnd().split('\n')
    expect(lines[0]).toMatch(/^# /)
    expect(lines.filter((line) => line.startsWith('**You need:** '))).toHaveLength(1)
    expect(lines.at(-1)).toMatch(/^\*\*Next:\*\* \[/)
  },
)

test('the map names every page of the shelves', () => {
  const named = [...read('docs/README.md').matchAll(/\]\(([\w/.-]+\.md)\)/g)].map(([, path]) => `docs/${path}`)
  expect(onShelves.filter((page) => !named.includes(page))).toEqual([])
})

test('the titles of Do begin with a verb', () => {
  const verbs =
    'Answer|Ask|Back|Call|Choose|Connect|Embed|Find|Get|Give|Go|Host|Let|Put|Run|Set|Supervise|Test|Upgrade|Use|Watch|Work|Write'
  expect(shelf('do').filter((page) => !new RegExp(`^# (?:${verbs})\\b`).test(read(page)))).toEqual([])
})

describe('blocks', () => {
  /** What `docs.test.ts`, the tests of examples and the replay of the tutorial check, by the first words of a block. */
  const checked = [
    /^yaml(?: settings| script| other)?$/,
    /^(?:sh|js|python) runnable(?: \d{3}(?: endless)?)?$/,
    /^(?:json|sse) answer(?: exact)?$/,
    /^(?:js|ts|tsx|jsx|yaml|sh|json|html|python) from \S.*$/,
    /^ts tools$/,
    /^js (?:verify|program)$/,
    /^json policy$/,
    // `test/browser/talk.slow.test.ts` runs them.
    /^(?:js|html) talk-\w+$/,
    // The commands of our program, below; the recipe is run by `test/crash/start.slow.test.ts`.
    /^sh(?: recipe)?$/,
    /\billustration$/,
  ]

  test('outside Learn, which is replayed, are checked or say that they are not', () => {
    const all = pages.filter((page) => !page.startsWith('docs/learn/') && page !== 'README.md').flatMap(blocksOf)
    expect(
      all
        .filter(({ marks }) => !checked.some((pattern) => pattern.test(marks)))
        .map(({ page, marks, code }) => [page, marks, code]),
    ).toEqual([])
  })

  test('of commands have only commands and flags of ours; others say that they do not run', async () => {
    const context = { version: '', startApp: createAppStarter(''), io: createTestIo(), settle() {} }
    const program = await createProgram(context)
    const lines = pages
      .flatMap(blocksOf)
      .filter(({ page, marks }) => marks === 'sh' && !/\/learn\/|http\.md$/.test(page))
      .flatMap(({ page, code }) => commandLines(code).map((line) => ({ page, line })))
    expect(
      lines.flatMap(({ page, line }) => wrongWords(program, line).map((word) => `${page}: ${word} in ${line}`)),
    ).toEqual([])
    expect(lines.length).toBeGreaterThan(40)
  })
})

/** The commands of a block, without remarks. A backslash joins lines. */
const commandLines = (code: string): string[] =>
  code
    .replaceAll('\\\n', ' ')
    .split('\n')
    .map((line) => line.replace(/(?:^|\s+)#.*$/, '').trim())
    .filter((line) => line !== '' && !/^(?:cd|export|mkdir) /.test(line))

/** Words that our program does not know. Of any other program, its name. */
function wrongWords(program: Command, line: string): string[] {
  const [, words] = /^(?:[A-Z_]+=\S+ )*(?:npx )?quarterdeck(?: (.*))?$/.exec(line) ?? []
  if (!/^(?:[A-Z_]+=\S+ )*(?:npx )?quarterdeck\b/.test(line)) return [line.split(' ')[0] ?? '']
  let command = program
  const flags = new Set(['--help', '--version'])
  const wrong: string[] = []
  let isNamed = true
  for (const word of (words ?? '').split(' ').filter(Boolean)) {
    if (word === '|' || word === '>' || word === '&&') break
    const next = command.commands.find((one) => one.name() === word)
    if (isNamed && next !== undefined) {
      command = next
      for (const { long } of command.options) if (long) flags.add(long)
      continue
    }
    isNamed = false
    if (command === program) return [word]
    if (word.startsWith('--') && !flags.has(word.split('=')[0] ?? '')) wrong.push(word)
  }
  return wrong
}
