// With Node's own loader, in a process of its own.

import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { NodeStep } from './testing/load-in-node.ts'

// Node names files by their real path in its errors.
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'quarterdeck-module-')))
afterAll(() => rmSync(folder, { recursive: true }))

const at = (name: string): string => join(folder, name)
const script = join(import.meta.dirname, 'testing/load-in-node.ts')

/** What each step gave: the outcome of the call, or the message of the failure. */
function inNode(steps: NodeStep[]): unknown {
  const args = ['--disable-warning=MODULE_TYPELESS_PACKAGE_JSON', script, JSON.stringify(steps)]
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8', timeout: 60_000 }))
}

/** As in agent.yaml, for functions without a schema. */
const parameters = { type: 'object' }

const given = (content: string) => ({ content, isError: false })

test('a changed file is loaded again with what it imports, and only when asked', () => {
  const main = at('main.ts')
  const version = (n: number) => ({
    [main]: `import { part } from './part.ts'\nexport const look_up = ({ a }: { a: string }): string => a + ${n} + part`,
    [at('part.ts')]: `export const part: string = 'p${n}'`,
  })
  const load = { settings: { file: main, parameters }, args: { a: 'x' } }
  expect(
    inNode([
      { write: version(1), ...load },
      { write: version(2), ...load },
      { ...load, reload: 1 },
      { write: version(3), ...load, reload: 2 },
      { ...load, reload: 1 },
    ]),
  ).toEqual([given('x1p1'), given('x1p1'), given('x2p2'), given('x3p3'), given('x2p2')])
})

test('a changed CommonJS file is loaded again too', () => {
  const main = at('main.cjs')
  const version = (n: number) => ({
    [main]: `const { part } = require('./part.cjs')\nmodule.exports = { look_up: () => ${n} + part }`,
    [at('part.cjs')]: `exports.part = 'p${n}'`,
  })
  expect(
    inNode([
      { write: version(1), settings: { file: main, parameters } },
      { write: version(2), settings: { file: main, parameters }, reload: 1 },
    ]),
  ).toEqual([given('1p1'), given('2p2')])
})

test('a file that a tool imports while it runs is the one that was there at the start, or the call fails', () => {
  const main = at('lazy.ts')
  const lazy = (changed: string) => `import { writeFileSync } from 'node:fs'
export async function look_up() {
  if (${JSON.stringify(changed)} !== '') writeFileSync(${JSON.stringify(at('later.ts'))}, ${JSON.stringify(changed)})
  return (await import('./later.ts')).later
}
`
  const later = (n: number) => `export const later = ${n}`
  const steps: NodeStep[] = [
    { write: { [main]: lazy(''), [at('later.ts')]: later(1) }, settings: { file: main, parameters }, reload: 1 },
    { write: { [main]: lazy(''), [at('later.ts')]: later(2) }, settings: { file: main, parameters }, reload: 2 },
    { write: { [main]: lazy(later(4)), [at('later.ts')]: later(3) }, settings: { file: main, parameters }, reload: 3 },
  ]
  expect(inNode(steps)).toEqual([
    given('1'),
    given('2'),
    expect.stringContaining('later.ts has changed since the tools were loaded. Start the server again.'),
  ])
})

test('a tool is bound to every file of the project that it loads, however the file name is written', () => {
  const ways: [string, string, string][] = [
    ['dollar.mjs', 'a$b.mjs', `import { part } from './a$b.mjs'`],
    ['quote.mjs', "it's.mjs", `import { part } from "./it's.mjs"`],
    ['escape.mjs', 'e.mjs', `import { part } from './\\u0065.mjs'`],
    ['variable.mjs', 'v.mjs', `const file = './v' + '.mjs'\nconst { part } = await import(file)`],
    [
      'other-require.mjs',
      'r.cjs',
      `import { createRequire } from 'node:module'\nconst load = createRequire(import.meta.url)\nconst { part } = load('./r.cjs')`,
    ],
    ['folder.cjs', 'index.js', `const { part } = require('.')`],
  ]
  const write = (n: number) =>
    Object.fromEntries(
      ways.flatMap(([main, beside, text]) => [
        [at(main), `${text}\n${main.endsWith('.cjs') ? 'exports.look_up' : 'export const look_up'} = () => part`],
        [at(beside), beside.endsWith('.mjs') ? `export const part = ${n}` : `exports.part = ${n}`],
      ]),
    )
  const bound = (n: number) =>
    inNode(
      ways.map(([main]) => ({ write: write(n), settings: { file: at(main), parameters }, isBound: true })),
    ) as string[]
  const first = bound(1)
  expect(bound(1)).toEqual(first)
  const changed = bound(2)
  expect(ways.filter((_, i) => changed[i] === first[i]).map(([main]) => main)).toEqual([])
})

test('an example with zod runs', () => {
  const file = join(import.meta.dirname, '../../../examples/order-desk/tools.ts')
  expect(
    inNode([
      { settings: { file, export: 'refund_order', description: null }, args: { order: '1042', amount: -1 } },
      { settings: { file, export: 'find_order', description: null }, args: { order: '1043' } },
    ]),
  ).toEqual([
    { content: 'The arguments are not valid. amount: Too small: expected number to be >0', isError: true },
    given('{"order":"1043","customer":"ben@example.com","item":"Notebook","paid":9}'),
  ])
})

test('a file that cannot be loaded says where and what to do', () => {
  mkdirSync(at('node_modules/pkg'), { recursive: true })
  const bad: [string, string][] = [
    ['syntax.ts', 'export const a = 1\nexport const b = {'],
    ['syntax.mjs', '\n\nexport const = 1'],
    ['syntax.cjs', '\n\nconst = 1'],
    ['enum.ts', '\nexport enum A { b }'],
    ['missing.mjs', "import './gone.ts'"],
    ['package.mjs', "import 'not-installed'"],
    ['throws.ts', '\n\nconst key: string = readKey()\nfunction readKey(): never { throw new Error("no KEY") }'],
    ['throws-text.mjs', 'throw "a text"'],
    ['node_modules/pkg/index.ts', 'export const look_up = 1'],
    ['imports.ts', "import './node_modules/pkg/index.ts'"],
  ]
  const steps = bad.map(([name, text]) => ({ write: { [at(name)]: text }, settings: { file: at(name) } }))
  const install = 'Install the package in the project. Import a file with its ending: ./other.ts'
  const threw = 'The file threw this while it was loaded. Fix it, or move the work into the function.'
  const tool = 'tool look_up:'
  expect(inNode(steps)).toEqual([
    expect.stringMatching(/syntax\.ts:2 tool look_up: .+\. Fix the file\.$/),
    `${at('syntax.mjs')}:3 ${tool} Unexpected token '='. Fix the file.`,
    `${at('syntax.cjs')}:3 ${tool} Unexpected token '='. Fix the file.`,
    `${at('enum.ts')}:2 ${tool} TypeScript enum is not supported in strip-only mode. Node only strips types. Write it without enum, namespace, parameter properties and import =.`,
    `${at('missing.mjs')} ${tool} Cannot find module '${at('gone.ts')}' imported from ${at('missing.mjs')}. ${install}`,
    `${at('package.mjs')} ${tool} Cannot find package 'not-installed' imported from ${at('package.mjs')}. ${install}`,
    `${at('throws.ts')}:4 ${tool} no KEY. ${threw}`,
    `${at('throws-text.mjs')} ${tool} a text. ${threw}`,
    `${at('node_modules/pkg/index.ts')} ${tool} Node does not run TypeScript under node_modules. Copy the file out of node_modules, or name the package’s .js file.`,
    expect.stringMatching(/Node does not run TypeScript under node_modules\. Import the package’s JavaScript\.$/),
  ])
})

test('a file with import and export is a module, also next to the package.json of `npm init -y`', () => {
  mkdirSync(at('common'), { recursive: true })
  const main = at('common/tools.ts')
  const write = {
    [at('common/package.json')]: '{ "type": "commonjs" }',
    [at('common/part.ts')]: `export const part: string = 'p'\nexport type Part = string`,
    [at('common/short.js')]: `import{old}from"./old.js";export{old}`,
    [at('common/old.js')]: `exports.old = 'o' // export const a = 1
const text = \`
import { part } from './part.ts'\`
const object = { import: text, export() {} }
void import('node:fs').then(() => object.export())
/* export { text } */`,
    [at('common/types.ts')]: `import type { Part } from './part.ts'
export type Types = Part
const t: Types = 't'
module.exports = { t }`,
    [main]: `import { z } from 'zod'
import { part } from './part.ts'
import { old } from './short.js'
import types from './types.ts'
export const look_up = {
  description: 'Looks something up.',
  parameters: z.object({ a: z.string() }),
  run: ({ a }: { a: string }) => a + part + old + types.t,
}`,
  }
  const load = { settings: { file: main }, args: { a: 'x' } }
  expect(
    inNode([
      { write, ...load },
      { ...load, reload: 1 },
    ]),
  ).toEqual([given('xpot'), given('xpot')])
})
