import { describe, expect, test } from 'vitest'
import { readFunction } from './read-parameters.ts'
import { lineAt, Unreadable } from './unreadable.ts'

const read = (source: string) => readFunction(source, 'f').parameters()
const properties = (source: string) => read(source).schema.properties
/** The schema of the one parameter of this type. */
const ofType = (type: string, more = '') => {
  const { schema } = read(`${more}\nexport function f(a: ${type}, b: string) {}`)
  return Object.entries(schema.properties ?? {})[0]?.[1]
}

describe('parameters one by one', () => {
  test('become the properties of an object, in their order', () => {
    expect(read('export function f(city: string, days: number = 3, metric?: boolean): string {}')).toEqual({
      schema: {
        type: 'object',
        properties: {
          city: { type: 'string' },
          days: { type: 'number', default: 3 },
          metric: { type: 'boolean' },
        },
        required: ['city'],
        additionalProperties: false,
      },
      order: ['city', 'days', 'metric'],
    })
  })

  test('are described by the comment', () => {
    const source = `/**
     * The weather of the coming days,
     * from {@link https://example.com the office}.
     *
     * Ask for one city at a time.
     * @param city - Name of the city,
     *   in English
     * @param {number} [days=3] How many days
     * @returns text
     */
    export async function f(city: string, days = 3) {}`
    expect(readFunction(source, 'f').description).toBe(
      'The weather of the coming days, from the office.\n\nAsk for one city at a time.',
    )
    expect(properties(source)).toEqual({
      city: { type: 'string', description: 'Name of the city, in English' },
      days: { type: 'number', default: 3, description: 'How many days' },
    })
  })

  test('have their types from the comment in JavaScript', () => {
    const source = `/**
     * @param {string} city
     * @param {'c' | 'f'} unit
     * @param {Array.<number>} hours
     * @param {?string} note
     * @param {number=} days
     * @param {{ a: string, b?: boolean }} more
     * @param {*} rest
     */
    exports.f = function (city, unit, hours, note, days, more, rest) {}`
    expect(read(source).schema).toEqual({
      type: 'object',
      properties: {
        city: { type: 'string' },
        unit: { type: 'string', enum: ['c', 'f'] },
        hours: { type: 'array', items: { type: 'number' } },
        note: { anyOf: [{ type: 'string' }, { type: 'null' }] },
        days: { type: 'number' },
        more: {
          type: 'object',
          properties: { a: { type: 'string' }, b: { type: 'boolean' } },
          required: ['a'],
          additionalProperties: false,
        },
        rest: {},
      },
      required: ['city', 'unit', 'hours', 'note', 'more', 'rest'],
      additionalProperties: false,
    })
  })

  test('have their types from the defaults', () => {
    const source = `export const f = (a = 'x,y', b = -1.5, c = false, d = [1, 2], e = \`t\`) => a`
    expect(properties(source)).toEqual({
      a: { type: 'string', default: 'x,y' },
      b: { type: 'number', default: -1.5 },
      c: { type: 'boolean', default: false },
      d: { type: 'array', items: { type: 'number' }, default: [1, 2] },
      e: { type: 'string', default: 't' },
    })
  })

  test('are optional, without a default in the schema, when only a run knows the default', () => {
    expect(read('export function f(a: string, when: number = Date.now(), b: string[] = [x, "y"]) {}').schema).toEqual({
      type: 'object',
      properties: { a: { type: 'string' }, when: { type: 'number' }, b: { type: 'array', items: { type: 'string' } } },
      required: ['a'],
      additionalProperties: false,
    })
  })

  test('may be split by anything that is not a comma of the list', () => {
    const source = `export function f(
      a: Record<string, string[]> = { x: ['(', ')'] }, // , b: string
      /* , c: string */ d: { e: 'x,' | "}" ; f: [][] extends never ? 1 : string } | undefined = undefined,
    ) {}`
    expect(() => read(source)).toThrow(Unreadable)
    expect(properties(source.replace('[][] extends never ? 1 : string', 'number[][]'))).toEqual({
      a: {
        type: 'object',
        additionalProperties: { type: 'array', items: { type: 'string' } },
        default: { x: ['(', ')'] },
      },
      d: {
        type: 'object',
        properties: {
          e: { type: 'string', enum: ['x,', '}'] },
          f: { type: 'array', items: { type: 'array', items: { type: 'number' } } },
        },
        required: ['e', 'f'],
        additionalProperties: false,
      },
    })
  })

  test('leave out `this`', () => {
    expect(read('export function f(this: Server, a: string, b: string) {}').order).toEqual(['a', 'b'])
  })
})

describe('one object', () => {
  const schema = {
    type: 'object',
    properties: { city: { type: 'string' }, days: { type: 'number', default: 3 } },
    required: ['city'],
    additionalProperties: false,
  }

  test.each([
    ['export const f = ({ city, days = 3 }: { city: string; days?: number }, context) => 1'],
    ['export const f = ({ city, days: d = 3 }: { city: string, days: number }) => 1'],
    [
      'export const f = ({ city, days = 3 }: Args, context: ToolContext) => 1\ninterface Args {\n city: string\n days?: number\n}',
    ],
    ['export type Args = { readonly city: string; days?: number }\nexport function f({ city, days = 3 }: Args) {}'],
    ['export const f = { run({ city, days = 3 }: { city: string; days?: number }) {} }'],
    ['/** @param {{ city: string, days?: number }} args */\nexport const f = ({ city, days = 3 }) => 1'],
    ['/**\n * @param {object} args\n * @param {string} args.city\n */\nexport const f = ({ city, days = 3 }, c) => 1'],
    ['/** @param {string} city */\nexport const f = async ({ city, days = 3 }, { signal, log }) => 1'],
  ])('is read from %s', (source) => {
    expect(read(source)).toEqual({ schema, order: null })
  })

  test('may keep its name', () => {
    const plain = { ...schema, properties: { city: { type: 'string' }, days: { type: 'number' } } }
    for (const source of [
      'export function f(args: { city: string; days?: number }, ctx: unknown) {}',
      'interface Args { city: string; days?: number }\nexport function f(args: Args) {}',
      '/**\n * @param {object} args\n * @param {string} args.city\n * @param {number} [args.days]\n */\nexport function f(args) {}',
    ]) {
      expect(read(source)).toEqual({ schema: plain, order: null })
    }
  })

  test('has descriptions from the comments at its members and from @param', () => {
    const source = `/**
     * @param args.days How many
     * @param unit Which unit
     */
    export function f(args: {
      /** Name of the city */
      city: string
      days: number
      unit: 'c' | 'f'
      [more: string]: unknown
    }) {}`
    expect(read(source).schema).toEqual({
      type: 'object',
      properties: {
        city: { type: 'string', description: 'Name of the city' },
        days: { type: 'number', description: 'How many' },
        unit: { type: 'string', enum: ['c', 'f'], description: 'Which unit' },
      },
      required: ['city', 'days', 'unit'],
      additionalProperties: {},
    })
  })

  test('is empty for a function that takes nothing, and the context is its first', () => {
    const schema = { type: 'object', properties: {}, additionalProperties: false }
    for (const list of ['', 'context', '{ signal }: ToolContext<State>', 'c: qd.ToolContext'])
      expect(read(`export const f = (${list}) => 1`)).toEqual({ schema, order: [] })
    expect(read('export const f = (_args, ctx: ToolContext) => 1')).toEqual({ schema, order: null })
  })
})

describe('the context', () => {
  test.each([
    ['a: string, b: string, context'],
    ['a: string, b: string, ctx: unknown'],
    ['a: string, b: string, c: ToolContext'],
    ['a: string, b: string, { signal }: ToolContext'],
    ['a: string, b: string, { log, emit: send }'],
    ['a: string, b: string, _context: { signal: AbortSignal }'],
    ["a: string, b: string, c: import('quarterdeck').ToolContext"],
  ])('is left out of (%s)', (list) => {
    expect(read(`export function f(${list}) {}`).order).toEqual(['a', 'b'])
  })

  test('is a parameter like others when its type says so', () => {
    expect(read('export function f(question: string, context: string) {}').order).toEqual(['question', 'context'])
    expect(read('export function f(question: string, ctx: string[]) {}').order).toEqual(['question', 'ctx'])
    expect(read("export function f(question = '', context = '') {}").order).toEqual(['question', 'context'])
    expect(read('export function f(context: string, question: string) {}').order).toEqual(['context', 'question'])
  })
})

describe('types', () => {
  test.each([
    ["'a' | 'b' | 'a'", { type: 'string', enum: ['a', 'b'] }],
    ["\n | 'it\\'s'\n | \"\\u0041\\x42\\u{43}\"", { type: 'string', enum: ["it's", 'ABC'] }],
    ['1 | -2 | 0x10', { type: 'number', enum: [1, -2, 16] }],
    ['true', { type: 'boolean', enum: [true] }],
    ['true | false', { type: 'boolean' }],
    ['string | null', { anyOf: [{ type: 'string' }, { type: 'null' }] }],
    ["'a' | 'b' | null", { anyOf: [{ type: 'string', enum: ['a', 'b'] }, { type: 'null' }] }],
    ['string | number | undefined', { anyOf: [{ type: 'string' }, { type: 'number' }] }],
    ['(string | number)[]', { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'number' }] } }],
    ["readonly ('a' | 'b')[]", { type: 'array', items: { type: 'string', enum: ['a', 'b'] } }],
    ['ReadonlyArray<Array<string>>', { type: 'array', items: { type: 'array', items: { type: 'string' } } }],
    ['Record<string, number>', { type: 'object', additionalProperties: { type: 'number' } }],
    [
      "Record<'x' | 'y', number>",
      {
        type: 'object',
        properties: { x: { type: 'number' }, y: { type: 'number' } },
        required: ['x', 'y'],
        additionalProperties: false,
      },
    ],
    ['unknown', {}],
    ['object', { type: 'object' }],
    [
      "{ 'home-town': string, readonly: boolean, readonly deep?: { x: number | undefined }[]; 7: null }",
      {
        type: 'object',
        properties: {
          'home-town': { type: 'string' },
          readonly: { type: 'boolean' },
          deep: {
            type: 'array',
            items: { type: 'object', properties: { x: { type: 'number' } }, additionalProperties: false },
          },
          7: { type: 'null' },
        },
        required: ['home-town', 'readonly', '7'],
        additionalProperties: false,
      },
    ],
  ])('%s', (type, schema) => {
    expect(ofType(type)).toEqual(schema)
  })

  test('may be called by names that the file declares', () => {
    const declared = "type Unit = 'c' | 'f'\nexport type Units = Unit | 'k'\ninterface At { lat: number; unit?: Units }"
    expect(ofType('At[]', declared)).toEqual({
      type: 'array',
      items: {
        type: 'object',
        properties: { lat: { type: 'number' }, unit: { type: 'string', enum: ['c', 'f', 'k'] } },
        required: ['lat'],
        additionalProperties: false,
      },
    })
  })

  test('are optional when a name stands for undefined too', () => {
    const source = 'type Maybe = string | undefined\nexport function f(a: Maybe, b: string) {}'
    expect(read(source).schema.required).toEqual(['b'])
  })
})

describe('what cannot be read', () => {
  test.each([
    ['a', 1, 'the parameter a has no type'],
    ['a: string,\n b', 2, 'the parameter b has no type'],
    ['a: Date', 1, 'the type Date, which this file does not declare in plain words, cannot be read'],
    ['a: string,\n b: Foreign', 2, 'the type Foreign, which this file does not declare in plain words, cannot be read'],
    ['a: z.infer<typeof schema>', 1, 'the type z cannot be read'],
    ['a: Map<string, string>', 1, 'the type Map cannot be read'],
    ['a: { x: string } & { y: string }', 1, 'an intersection (&) cannot be read'],
    ['a: () => void', 1, 'a function cannot be read'],
    ['a: { run(): void }', 1, 'a member that is no plain property cannot be read'],
    ["a: Args['x']", 1, 'the type Args, which this file does not declare in plain words, cannot be read'],
    ["a: string['length']", 1, 'an indexed type cannot be read'],
    ['a: [string, number]', 1, 'the type [ cannot be read'],
    ['a: string extends b ? 1 : 2', 1, 'the type extends cannot be read'],
    ['a: 10n', 1, 'the type 10n cannot be read'],
    ['...a: string[]', 1, 'a rest parameter (...) cannot be read'],
    ['[a]: string[]', 1, 'a parameter without a name cannot be read'],
    ['{ a }', 1, 'the parameter a has no type'],
    ['{ a }: string', 1, 'a parameter that is taken apart must be an object'],
    ['a: string, { b }: { b: string }', 1, 'a parameter beside others that is taken apart has no name'],
    ['a = new Date()', 1, 'the parameter a has no type'],
    ['a = []', 1, 'the parameter a has no type'],
    ['a = null', 1, 'the parameter a has no type'],
  ])('(%s) is told with its line', (list, line, message) => {
    const source = `export function f(${list}) {}`
    let thrown: unknown
    try {
      read(source)
    } catch (error) {
      thrown = error
    }
    expect(thrown).toBeInstanceOf(Unreadable)
    if (!(thrown instanceof Unreadable)) return
    expect({ line: lineAt(source, thrown.position), message: thrown.message }).toEqual({ line, message })
  })

  test.each([
    ['type Tree = { left: Tree }', 'Tree', 'the type Tree, which contains itself, cannot be read'],
    [
      'interface A extends B { x: string }',
      'A',
      'the type A, which this file does not declare in plain words, cannot be read',
    ],
    [
      'interface A { x: string }\ninterface A { y: string }',
      'A',
      'the type A, which this file does not declare in plain words, cannot be read',
    ],
    ['type A<T> = T[]', 'A', 'the type A, which this file does not declare in plain words, cannot be read'],
    ['type A = string extends infer X ? X : 1', 'A', 'the type extends cannot be read'],
  ])('%s is not guessed', (declared, type, message) => {
    expect(() => ofType(type, declared)).toThrow(expect.objectContaining({ name: 'Unreadable', message }))
  })
})

test('names that are special in JavaScript are ordinary ones', () => {
  const { schema } = read('export function f(a: { __proto__: string; constructor: number }, b: string) {}')
  expect(JSON.stringify(schema.properties)).toBe(
    '{"a":{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"number"}},"required":["__proto__","constructor"],"additionalProperties":false},"b":{"type":"string"}}',
  )
  expect(() => read('export function f(a: toString, b: constructor) {}')).toThrow(Unreadable)
})
