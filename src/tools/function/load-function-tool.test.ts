import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { FunctionToolSettings } from '../../domain/tool-settings.ts'
import { createJsonCheck } from '../../json/json-schema.ts'
import { loadFunctionTool } from './load-function-tool.ts'
import { callOf, deps, functionSettings } from './testing/fakes.ts'

const folder = mkdtempSync(join(tmpdir(), 'quarterdeck-function-'))
afterAll(() => rmSync(folder, { recursive: true }))

let files = 0
/** A module with this text. */
function moduleOf(text: string, ending = '.ts'): string {
  files += 1
  const file = join(folder, `tools-${files}${ending}`)
  writeFileSync(file, text)
  return file
}

const schemaTools = join(import.meta.dirname, 'testing/schema-tools.ts')
const example = join(import.meta.dirname, '../../../examples/tools/tools.ts')

const load = (settings: Parameters<typeof functionSettings>[0]) => loadFunctionTool(functionSettings(settings), deps)
const loadText = (text: string, settings: Partial<FunctionToolSettings> = {}) =>
  load({ file: moduleOf(text), ...settings })
async function call(tool: Awaited<ReturnType<typeof load>>, args: Record<string, unknown> = {}) {
  return tool.call(callOf(args), new AbortController().signal)
}

describe('a function', () => {
  test('is a tool whose description and parameters stand in the code', async () => {
    const settings = functionSettings({
      file: example,
      name: 'get_weather',
      export: 'getWeather',
      description: null,
      effect: 'idempotent',
      risk: 'high',
      timeoutMs: 5000,
      retries: 2,
      predictState: [{ stateKey: 'weather', toolArgument: null }],
    })
    const { call: _, ...tool } = await loadFunctionTool(settings, deps)
    expect(tool).toEqual({
      location: 'server',
      binding: expect.any(String),
      name: 'get_weather',
      description: 'The weather of a city now and in the coming days. Knows Oslo, Rome and London.',
      parameters: {
        type: 'object',
        properties: {
          city: { type: 'string', description: 'Name of the city, in English' },
          days: { type: 'number', default: 1, description: 'How many days, today included' },
          unit: {
            type: 'string',
            enum: ['celsius', 'fahrenheit'],
            default: 'celsius',
            description: 'In which unit to give temperatures',
          },
        },
        required: ['city'],
        additionalProperties: false,
      },
      returns: null,
      effect: 'idempotent',
      risk: 'high',
      timeoutMs: 5000,
      retries: 2,
      approval: null,
      predictState: [{ stateKey: 'weather', toolArgument: null }],
    })
  })

  test('is called with its arguments one by one where it declares them so', async () => {
    const tool = await load({ file: example, export: 'getWeather' })
    expect(await call(tool, { city: 'Rome', unit: 'fahrenheit' })).toEqual({
      content: '[{"day":0,"sky":"sunny","temperature":75,"unit":"fahrenheit"}]',
      isError: false,
    })
    expect(await call(tool, { city: 'Nome' })).toEqual({
      content: 'Nome is unknown. Known cities: oslo, rome, london.',
      isError: true,
    })
  })

  test('has parameters that can be checked and filled in', async () => {
    const tool = await load({ file: example, export: 'getWeather' })
    const checked = createJsonCheck(tool.parameters).check({ city: 'Oslo', days: 2 })
    expect(checked).toEqual({ ok: true, value: { city: 'Oslo', days: 2, unit: 'celsius' } })
    expect(createJsonCheck(tool.parameters).check({ city: 'Oslo', unit: 'kelvin' }).ok).toBe(false)
  })

  test('is given the context behind them, also when it leaves some out', async () => {
    const tool = await loadText(
      'export const look_up = (a: string, b: number | undefined, c = 3, ctx) => [a, b, c, ctx.user]',
    )
    expect(await call(tool, { a: 'x' })).toEqual({ content: '["x",null,3,"ada"]', isError: false })
  })

  test('is called with one object where it takes one', async () => {
    const tool = await loadText('export const look_up = ({ a, b = 2 }: { a: string; b?: number }, c) => a + b + c.run')
    expect(await call(tool, { a: 'x' })).toEqual({ content: 'x2run-1', isError: false })
  })

  test('may carry its description and parameters as properties', async () => {
    const tool = await loadText(
      `export const look_up = Object.assign((args) => args.a, {
        description: 'From a property.',
        parameters: { type: 'object', properties: { a: { type: 'string' } } },
      })`,
      { description: null },
    )
    expect([tool.description, tool.parameters, await call(tool, { a: 'x' })]).toEqual([
      'From a property.',
      { type: 'object', properties: { a: { type: 'string' } } },
      { content: 'x', isError: false },
    ])
  })
})

describe('parameters in agent.yaml', () => {
  const parameters = { type: 'object', properties: { a: { type: 'string' }, b: { type: 'number' } } }

  test.each([
    ['(a, b) => [a, b]', '["x",2]'],
    ['(b, a, context) => [b, a, context.user]', '[2,"x","ada"]'],
    ['(a) => a', 'x'],
    ['(args, context) => [args, context.user]', '[{"a":"x","b":2},"ada"]'],
    ['({ a, b }) => [a, b]', '["x",2]'],
    ['(a: { a: string }) => a', '{"a":"x","b":2}'],
    ['(a: Foreign) => a', '{"a":"x","b":2}'],
    ['(...all) => all.length', '2'],
    ['() => "nothing"', 'nothing'],
  ])('count more than those of %s, which is called as it declares', async (text, content) => {
    const tool = await loadText(`export const look_up = ${text}`, { parameters })
    expect(tool.parameters).toBe(parameters)
    expect(await call(tool, { a: 'x', b: 2 })).toEqual({ content, isError: false })
  })

  test('must have what the function declares', async () => {
    const file = moduleOf('export const look_up = (a, days) => a')
    await expect(load({ file, parameters })).rejects.toMatchObject({
      code: 'config_invalid',
      message: `${file} tool look_up: agent.yaml has no parameter days, which the function declares. Write it there too, or take one object: (args, context).`,
    })
  })

  test('are shown to the model, and the code’s schema still checks', async () => {
    const tool = await load({ file: schemaTools, export: 'silent', parameters })
    expect(tool.parameters).toBe(parameters)
    expect(await call(tool, { n: 4 })).toEqual({ content: '40', isError: false })
  })
})

describe('an object around a function', () => {
  test('has its schema from zod, whose transforms and defaults hold', async () => {
    const tool = await load({ file: schemaTools, export: 'transformed', description: null })
    expect([tool.description, tool.parameters, tool.returns]).toEqual([
      'Adds days to a date.',
      {
        type: 'object',
        properties: {
          date: expect.objectContaining({ type: 'string', format: 'date' }),
          days: { type: 'number', default: 1 },
        },
        required: ['date'],
      },
      { type: 'object', properties: { date: { type: 'string' } }, required: ['date'], additionalProperties: false },
    ])
    expect(await call(tool, { date: '2026-02-28' })).toEqual({ content: '{"date":"2026-03-01"}', isError: false })
  })

  test('has refinements, whose message goes to the model', async () => {
    const tool = await load({ file: example, export: 'roll_dice' })
    expect(await call(tool, { sides: 100, count: 20 })).toEqual({
      content: 'The arguments are not valid. so many dice with so many sides do not fit on the table',
      isError: true,
    })
  })

  test('may have a zod schema that cannot say itself', async () => {
    const tool = await load({ file: schemaTools, export: 'olderZod' })
    expect(tool.parameters).toEqual({ type: 'object', properties: { a: { type: 'string' } }, required: ['a'] })
  })

  test('has its schema from any Standard Schema that says it', async () => {
    const tool = await load({ file: schemaTools, export: 'speaking' })
    expect(tool.parameters).toEqual({ type: 'object', properties: { n: { type: 'number' } }, required: ['n'] })
    expect(await call(tool, { n: 4 })).toEqual({ content: '40', isError: false })
    expect(await call(tool, { n: -4 })).toEqual({
      content: 'The arguments are not valid. n: must be positive; try again',
      isError: true,
    })
  })

  test('may have JSON Schema', async () => {
    const tool = await load({ file: schemaTools, export: 'plain' })
    expect([tool.parameters, tool.returns, await call(tool, { text: 'x' })]).toEqual([
      { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
      { type: 'string' },
      { content: 'x', isError: false },
    ])
  })

  test('keeps its `this`, and may call its function execute', async () => {
    const tool = await loadText(
      '/** Finds the answer. */\nexport default { answer: 42, execute({ a }: { a: string }) { return a + this.answer } }',
      { export: 'default', description: null },
    )
    expect([tool.description, tool.parameters, await call(tool, { a: 'x' })]).toEqual([
      'Finds the answer.',
      { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false },
      { content: 'x42', isError: false },
    ])
  })

  const WRITE = 'Write parameters: in agent.yaml, or export { parameters: z.object({ … }), run } with a zod schema.'
  test.each([
    ['silent', `a model cannot be told its parameters: schemas of tiny do not say themselves as JSON Schema. ${WRITE}`],
    [
      'unspeakable',
      `a model cannot be told its parameters: the zod schema cannot be said as JSON Schema: Date cannot be represented in JSON Schema. ${WRITE}`,
    ],
    ['list', 'its parameters are not those of an object. Write e.g. z.object({ … })'],
    [
      'broken',
      `a model cannot be told its parameters: it is neither a Standard Schema (zod, Valibot, ArkType …) nor JSON Schema. ${WRITE}`,
    ],
  ])('is refused when its schema is %s', async (name, message) => {
    await expect(load({ file: schemaTools, export: name })).rejects.toMatchObject({
      code: 'config_invalid',
      message: `${schemaTools} tool look_up: ${message}`,
    })
  })
})

test('JSON Schema that is broken is refused, with the reason', async () => {
  const parameters = { type: 'object', properties: { text: { type: 'strnig' } } }
  const text = `export const look_up = { parameters: ${JSON.stringify(parameters)}, run: () => 1 }`
  const { message } = await loadText(text).then(
    () => new Error('it was loaded'),
    (error: Error) => error,
  )
  expect(message).toMatch(/tools-\d+\.ts tool look_up: its parameters: .*\/properties\/text\/type/)
})

describe('what is refused', () => {
  const WRITE = 'Write parameters: in agent.yaml, or export { parameters: z.object({ … }), run } with a zod schema.'
  test.each([
    [
      'export function look_up(\n  city: string,\n  when: Date,\n) {}',
      ':3',
      `its parameters cannot be read from the code: the type Date, which this file does not declare in plain words, cannot be read. ${WRITE}`,
    ],
    [
      'const make = () => () => 1\nexport const look_up = make()',
      ':2',
      `its parameters cannot be read from the code: the exported value is not a function that is written out here. ${WRITE}`,
    ],
    [
      'export const lookUp = () => 1\nexport const other = 1',
      '',
      'there is no export look_up. The file exports lookUp, other. Write export: lookUp',
    ],
    [
      'export const a = 1\nexport const b = 1',
      '',
      'there is no export look_up. The file exports a, b. Name one of them with export: in agent.yaml.',
    ],
    ['export {}', '', 'the file exports nothing. Write export function look_up(…) { … }'],
    [
      'export const look_up = 7',
      '',
      'the export look_up is a value of type number. Export a function, or an object { description, parameters, run }.',
    ],
    ['export class look_up {}', '', 'the export look_up is a class. Export a function.'],
    [
      'export const look_up = { description: "x" }',
      '',
      'the export look_up has no function run. Write look_up = { …, run(args, context) { … } }.',
    ],
  ])('%s', async (text, line, message) => {
    const file = moduleOf(text)
    await expect(load({ file })).rejects.toMatchObject({
      code: 'config_invalid',
      message: `${file}${line} tool look_up: ${message}`,
      details: { file, line: line === '' ? null : Number(line.slice(1)), tool: 'look_up' },
    })
  })

  const HELP =
    'Say when and why to use it, with description: in agent.yaml or in a comment /** … */ above the function.'
  test.each([
    ['export const look_up = () => 1', `it has no description. ${HELP}`],
    [
      '/** Looks up */ export const look_up = () => 1',
      `its description is shorter than 10 characters: "Looks up". ${HELP}`,
    ],
    [
      '/** A comment of good length. */ export const look_up = { description: "short", run: () => 1 }',
      `its description is shorter than 10 characters: "short". ${HELP}`,
    ],
  ])('%s, without a description in agent.yaml', async (text, message) => {
    const file = moduleOf(text)
    await expect(load({ file, description: null })).rejects.toMatchObject({
      code: 'config_invalid',
      message: `${file} tool look_up: ${message}`,
    })
  })

  test('a file of another kind, and one that is not there', async () => {
    await expect(load({ file: '/srv/tools.py' })).rejects.toMatchObject({
      code: 'config_invalid',
      message: '/srv/tools.py tool look_up: a function tool is an export of a .ts, .js or .mjs file, not of .py.',
    })
    await expect(load({ file: join(folder, 'gone.ts') })).rejects.toMatchObject({
      code: 'config_invalid',
      message: `${join(folder, 'gone.ts')} tool look_up: there is no such file. Check file: in agent.yaml.`,
    })
  })

  test('a file that never finishes loading', async () => {
    const file = moduleOf('await new Promise(() => {})\nexport const look_up = () => 1')
    const limits: number[] = []
    const clock = {
      ...deps.clock,
      after(ms: number, fire: () => void) {
        limits.push(ms)
        queueMicrotask(fire)
        return () => {}
      },
    }
    await expect(loadFunctionTool(functionSettings({ file }), { ...deps, clock })).rejects.toMatchObject({
      code: 'config_invalid',
      message: `${file} tool look_up: the file did not finish loading within 30 s. Move what it waits for into the function.`,
    })
    expect(limits).toEqual([30_000])
  })
})
