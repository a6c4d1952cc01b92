import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAst } from 'vite'
import { describe, expect, test } from 'vitest'
import { findFunction } from './find-function.ts'
import { splitParameters } from './split-parameters.ts'
import { type Token, tokenize } from './tokenize.ts'

/** The names of the parameters, and the comment. `{` for one that is taken apart. */
function found(source: string | Token[], name = 'f') {
  const tokens = typeof source === 'string' ? tokenize(source) : source
  const { head, doc } = findFunction(tokens, name)
  return { parameters: splitParameters(tokens, { head, doc }).map((parameter) => parameter.name ?? '{'), doc }
}

describe('findFunction', () => {
  test.each([
    ['export function f(a, b) {}'],
    ['export async function* f(a, b) {}'],
    ['export function f<T extends Map<string, () => T>>(a: T, b) {}'],
    ['export const f = (a, b) => a'],
    ['export const f = async (a, b): Promise<{ c: string }> => a'],
    ['export const f: Record<string, (x: number) => void> = function named(a, b) {}'],
    ['export const f = <T,>(a: T, b) => a'],
    ['export const f = ((a, b) => a) as Tool'],
    ['export const e = 1, f = (a, b) => a'],
    ['const f = (a, b) => a\nexport { f }'],
    ['export { g as f, g as "other" }\nfunction g(a, b) {}'],
    ['export { g as f }\nconst g = h\nfunction h(a, b) {}'],
    ['export const f = { description: "run(x)", async run(a, b) {} }'],
    ['export const f = { nested: { run(x) {} }, execute: async (a, b) => a }'],
    ['export const f = { "run": function (a, b) {} }'],
    ['const run = (a, b) => a\nexport const f = { run }'],
    ['export const f = defineTool<Args>({ parameters: z.object({ run: z.string() }), run(a, b) {} })'],
    ['export const f = sdk.tool({ ...base, async: 1, run: async <T>(a: T, b) => a })'],
    ['type X = Array<string>\nexport const f = (a, b) => a'],
    ['const x = y!\nexport function f(a, b) {}'],
    ['export function f(a: string): void\nexport function f(c: number): void\nexport function f(a, b) {}'],
    ['exports.f = function (a, b) {}'],
    ['module.exports.f = async (a, b) => a'],
    ['module.exports = { e, f(a, b) {} }'],
    ['function f(a, b) {}\nmodule.exports = { f }'],
    [
      "const re = /export function f(x) {}/, s = 'export function f(x)', t = `export function f(x)`\nexport function f(a, b) {}",
    ],
    ['// export function f(x) {}\nfunction g() { function f(x) {} }\nexport function f(a, b) {}'],
  ])('finds it in %s', (source) => {
    expect(found(source).parameters).toEqual(['a', 'b'])
  })

  test.each([
    ['export default function (a) {}'],
    ['export default async function g(a) {}'],
    ['export default (a) => a'],
    ['export default async a => a'],
    ['const g = (a) => a\nexport default g'],
    ['export { g as default }\nfunction g(a) {}'],
    ['export default { run(a) {} }'],
    ['module.exports = function (a) {}'],
  ])('finds the default export in %s', (source) => {
    expect(found(source, 'default').parameters).toEqual(['a'])
  })

  test.each([
    ['/** D */\nexport async function f() {}'],
    ['/** D */ export const f = () => 1'],
    ['export const e = 1,\n/** D */ f = () => 1'],
    ['/** D */\nfunction g() {}\nexport { g as f }'],
    ['/** other */ export const f = { /** D */ run() {} }'],
    ['/** D */ export const f = { run() {} }'],
    ['/** D */ export function f(): void\nexport function f() {}'],
  ])('takes the comment that belongs to it in %s', (source) => {
    expect(found(source).doc).toBe('/** D */')
  })

  test.each([
    ["export { f } from './other.ts'", 'the export f comes from another file'],
    ["import { f } from './other.ts'\nexport { f }", 'the export f comes from another file'],
    ["export * from './other.ts'", 'the export f is not written in this file'],
    ['function f(a) {}', 'the export f is not written in this file'],
    ['export const { f } = tools', 'the export f is not written in this file'],
    ['export const f = make(g)', 'the exported value is not a function that is written out here'],
    ['export const f = a ? b : c', 'the exported value is not a function that is written out here'],
    ['export const f = g\nconst g = f', 'the exported value is not a function that is written out here'],
    ['export const f = new Tool()', 'the exported value is not a function that is written out here'],
    ['export const f = { go() {} }', 'the exported object shows no run or execute function'],
  ])('does not guess at %s', (source, message) => {
    expect(() => found(source)).toThrow(expect.objectContaining({ name: 'Unreadable', message }))
  })
})

interface Pattern {
  type: string
  name?: string
  left?: Pattern
}

const nameOf = (pattern: Pattern): string =>
  pattern.type === 'AssignmentPattern' && pattern.left !== undefined
    ? nameOf(pattern.left)
    : (pattern.name ?? (pattern.type === 'ObjectPattern' ? '{' : '?'))

test('agrees with a real parser about every exported function of this project', () => {
  const src = join(import.meta.dirname, '../../..')
  const wrong: string[] = []
  let count = 0
  for (const file of readdirSync(src, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts')) continue
    const source = readFileSync(join(src, file), 'utf8')
    const tokens = tokenize(source)
    for (const statement of parseAst(source, { lang: 'ts' }).body) {
      if (statement.type !== 'ExportNamedDeclaration' || statement.declaration?.type !== 'FunctionDeclaration') continue
      const { id, params } = statement.declaration
      const expected = params.map(nameOf)
      if (id === null || expected.includes('?')) continue
      count += 1
      const actual = found(tokens, id.name).parameters
      if (actual.join() !== expected.join()) wrong.push(`${file} ${id.name}: ${actual} instead of ${expected}`)
    }
  }
  expect(wrong).toEqual([])
  expect(count).toBeGreaterThan(500)
})
