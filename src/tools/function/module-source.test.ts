import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readModuleSource, textHash } from './module-source.ts'

let folder: string
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'quarterdeck-')))
})
afterEach(() => rmSync(folder, { recursive: true }))

function write(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
}

const filesOf = (name: string): string[] =>
  Object.keys(readModuleSource(join(folder, name), (_, text) => textHash(text))).sort()

test('a module is its text and all files of the project that it imports, in every syntax', () => {
  write({
    'tools/main.ts': `import a from './a.ts'
import type { T } from "./types.ts"
import './side.mjs'
export * from '../up.js'
const later = () => import(/* later */ './later.ts')
const old = require('./old')
import data from './data.json' with { type: 'json' }
import inner from '#inner'
new Worker(new URL('./worker.ts', import.meta.url))
const notes = new URL('./notes.json', import.meta.url)
const text = './text.ts'
import gone from './gone.ts'
import zod from 'zod'
import fs from 'node:fs'
import pkg from './node_modules/pkg/index.js'
`,
    'tools/a.ts': `import './deep/b.ts'`,
    'tools/deep/b.ts': `import '../a.ts'; import './c.json' with { type: 'json' }`,
    'tools/deep/c.json': '{}',
    'tools/types.ts': '',
    'tools/side.mjs': '',
    'up.js': '',
    'tools/later.ts': '',
    'tools/old.js': '',
    'tools/data.json': '{}',
    'tools/inner.ts': '',
    'tools/worker.ts': '',
    'tools/notes.json': '{}',
    'tools/text.ts': '',
    'tools/node_modules/pkg/index.js': '',
    'package.json': '{"type":"module","imports":{"#inner":"./tools/inner.ts"}}',
  })
  expect(filesOf('tools/main.ts')).toEqual([
    '../up.js',
    'a.ts',
    'data.json',
    'deep/b.ts',
    'deep/c.json',
    'inner.ts',
    'later.ts',
    'main.ts',
    'old.js',
    'side.mjs',
    'types.ts',
    'worker.ts',
  ])
})

test('a module behind a symbolic link is the file that Node loads', () => {
  write({ 'real/main.ts': `import './a.ts'`, 'real/a.ts': '' })
  symlinkSync(join(folder, 'real/main.ts'), join(folder, 'main.ts'))
  expect(filesOf('main.ts')).toEqual(['a.ts', 'main.ts'])
})
