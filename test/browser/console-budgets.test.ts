// How much a browser loads for each page of the console and for the page for users, compressed. A page that grows past its budget fails here, with its parts.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'

const dist = join(import.meta.dirname, '../../dist/console')
const manifestFile = join(dist, '.vite/manifest.json')
const isBuilt = existsSync(manifestFile)
if (!isBuilt) process.stderr.write('The budgets of the console are not checked: it is not built (npm run build).\n')

const FIRST_LOAD_KB = 100
const PAGE_KB = 150
const CSS_KB = 25
/** The editor for YAML is loaded on demand and has no place in these budgets. */
const isYaml = (key: string): boolean => /codemirror|lezer|yaml/i.test(key)

const Chunk = z.object({
  file: z.string(),
  imports: z.array(z.string()).default([]),
  dynamicImports: z.array(z.string()).default([]),
  css: z.array(z.string()).default([]),
})
const chunks = new Map(
  Object.entries(isBuilt ? z.record(z.string(), Chunk).parse(JSON.parse(readFileSync(manifestFile, 'utf8'))) : {}),
)

/** A chunk and everything that is loaded with it. */
function graph(key: string, found: Set<string> = new Set()): Set<string> {
  const chunk = chunks.get(key)
  if (chunk === undefined || found.has(key)) return found
  found.add(key)
  for (const next of chunk.imports) graph(next, found)
  return found
}

/** The parts of a page that one opens at a time, such as the views of a session. */
const partsOf = (page: string): string[] =>
  (chunks.get(page)?.dynamicImports ?? []).filter((key) => /(?:Tab|View|Part)\.tsx$/.test(key) && !isYaml(key))

const kilobytes = (file: string): number => gzipSync(readFileSync(join(dist, file))).length / 1_000

function weigh(keys: ReadonlySet<string>) {
  const scripts = [...keys].map((key) => chunks.get(key)?.file ?? '')
  const styles = [...new Set([...keys].flatMap((key) => chunks.get(key)?.css ?? []))]
  const parts = scripts.map((file) => [file, kilobytes(file)] as const).sort(([, a], [, b]) => b - a)
  const sum = (files: readonly string[]) => files.reduce((all, file) => all + kilobytes(file), 0)
  return {
    files: [...scripts, ...styles],
    js: sum(scripts),
    css: sum(styles),
    parts: parts.slice(0, 6).map(([file, size]) => `${file} ${size.toFixed(1)}`),
  }
}

const first = graph('index.html')
const pages = [...chunks.keys()].filter(
  (key) => /^src\/pages\/.*Page\.tsx$/.test(key) || key.endsWith('SignInPage.tsx'),
)

describe.skipIf(!isBuilt)('the page for users', () => {
  const talk = graph('talk/index.html')
  const pagesOfTalk = ['pages/chat/ChatPage', 'talk/ChatsPage', 'talk/TalkSettings', 'sign-in/SignInPage']

  test.each([
    ['first', FIRST_LOAD_KB, talk] as const,
    ...pagesOfTalk.map((page) => [`with ${page}`, PAGE_KB, graph(`src/${page}.tsx`, new Set(talk))] as const),
  ])('loads no more than the console may: %s', (_, limit, loaded) => {
    const { js, css, parts } = weigh(loaded)

    expect(js, parts.join('\n')).toBeLessThanOrEqual(limit)
    expect(js).toBeGreaterThan(50)
    expect(css).toBeLessThanOrEqual(CSS_KB)
  })
})

describe.skipIf(!isBuilt)('the console', () => {
  test(`loads at most ${FIRST_LOAD_KB} kB of scripts first`, () => {
    const { js, css, parts } = weigh(first)

    expect(pages.length).toBeGreaterThanOrEqual(10)
    expect(js, parts.join('\n')).toBeLessThanOrEqual(FIRST_LOAD_KB)
    expect(css).toBeLessThanOrEqual(CSS_KB)
  })

  test('asks for few files before one can type into a new chat', () => {
    const { files } = weigh(graph('src/pages/chat/ChatPage.tsx', new Set(first)))

    // Each file costs a browser and the server more than a kilobyte in another one would.
    expect(files.filter((file) => !file.includes('runtime')).length, files.join('\n')).toBeLessThanOrEqual(8)
  })

  test.each(pages)(`%s stays under ${PAGE_KB} kB with each of its parts, but YAML`, (page) => {
    for (const part of [page, ...partsOf(page)]) {
      const { js, css, parts } = weigh(graph(part, graph(page, new Set(first))))

      expect(js, [part, ...parts].join('\n')).toBeLessThanOrEqual(PAGE_KB)
      expect(css).toBeLessThanOrEqual(CSS_KB)
    }
  })

  test('no page and no part of one brings the view for YAML with it', () => {
    const others = [...chunks.keys()].filter((key) => !isYaml(key))
    expect(others.flatMap((key) => [...graph(key)].filter(isYaml).map((yaml) => `${key} loads ${yaml}`))).toEqual([])
    expect([...chunks.keys()].some(isYaml)).toBe(true)
  })
})
