import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { FunctionToolSettings } from '../../domain/agent/tool-settings.ts'
import { silentLogger } from '../../domain/logger.ts'
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
const example = join(import.meta.dirname, 'testing/weather-tools.ts')

const load = (settings: Parameters<typeof functionSettings>[0]) => loadFunctionTool(functionSettings(settings), deps)
const loadText = (text: string, settings: Partial<FunctionToolSettings> = {}) =>
  load({ file: moduleOf(text), ...settings })
async function call(tool: Awaited<ReturnType<typeof load>>, args: Record<string, unknown> = {}) {
  return tool.call(callOf(args), new AbortController().signal)
}

describe('a function tool', () => {
  test('has its description and parameters from the code', async () => {
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
      action: expect.any(Function),
      binding: expect.any(String),
      name: 'get_weather',
      description: 'The weather of a city now and in the coming days. Knows Oslo, Rome and London.',
      parameters: {
        type: 'object',
        properties: {
          city: { type: 'string', description: 'Name of the city, in English' },
          days: { type: 'integer', minimum: 1, maximum: 7, default: 1, description: 'How many days, today included' },
          unit: {
            type: 'string',
            enum: ['celsius', 'fahrenheit'],
            default: 'celsius',
            description: 'Unit of the temperatures',
          },
        },
        required: ['city'],
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

  test('is called with all arguments as one object', async () => {
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

  test('may be a function that carries its description and parameters as properties', async () => {
    const tool = await loadText(
      `export const look_up = Object.assign((args, context) => args.a + context.user, {
        description: 'From a property.',
        parameters: { type: 'object', properties: { a: { type: 'string' } } },
      })`,
      { description: null },
    )
    expect([tool.description, tool.parameters, await call(tool, { a: 'x' })]).toEqual([
      'From a property.',
      { type: 'object', properties: { a: { type: 'string' } } },
      { content: 'xada', isError: false },
    ])
  })
})

describe('parameters in agent.yaml', () => {
  const parameters = { type: 'object', properties: { a: { type: 'string' }, b: { type: 'number' } } }

  test.each([
    ['(args, context) => [args, context.user]', '[{"a":"x","b":2},"ada"]'],
    ['({ a, b }) => [a, b]', '["x",2]'],
    ['async function ({ a }) { return a }', 'x'],
    ['(...all) => all.length', '2'],
    ['() => "nothing"', 'nothing'],
  ])('let a plain function be a tool: %s', async (text, content) => {
    const tool = await loadText(`export const look_up = ${text}`, { parameters })
    expect(tool.parameters).toBe(parameters)
    expect(await call(tool, { a: 'x', b: 2 })).toEqual({ content, isError: false })
  })

  test.each([
    '(a, b) => [a, b]',
    'a => a',
    'async b => b',
    '(a = 1) => a',
    'function (b, context) {}',
    'async function* look(a) {}',
  ])('are refused for a function that takes them one by one: %s', async (text) => {
    const file = moduleOf(`export const look_up = ${text}`)
    await expect(load({ file, parameters })).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringMatching(
        /tool look_up: its function gets all arguments as one object, and its first parameter is [ab]\. Write \(\{ a, b \}, context\)\.$/,
      ),
    })
  })

  test('are shown to the model, and the code’s schema still checks', async () => {
    const tool = await load({ file: schemaTools, export: 'silent', parameters })
    expect(tool.parameters).toBe(parameters)
    expect(await call(tool, { n: 4 })).toEqual({ content: '40', isError: false })
  })
})

describe('an object around a function', () => {
  test('has its schema from zod, with transforms and defaults', async () => {
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

  test('may have a schema of the first zod 4', async () => {
    const tool = await load({ file: schemaTools, export: 'olderZod' })
    expect(tool.parameters).toEqual({ type: 'object', properties: { a: { type: 'string' } }, required: ['a'] })
  })

  test('may have any Standard Schema that describes itself as JSON Schema', async () => {
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
      'export default { answer: 42, parameters: { type: "object" }, execute({ a }) { return a + this.answer } }',
      { export: 'default' },
    )
    expect(await call(tool, { a: 'x' })).toEqual({ content: 'x42', isError: false })
  })

  test('may review its calls, with its own `this`', async () => {
    const tool = await loadText(
      'export default { sign: "+", parameters: { type: "object" }, preview({ a }) { return this.sign + a }, run() {} }',
      { export: 'default' },
    )
    const review = { sessionId: 's', owner: 'ada', agent: 'helper', log: silentLogger }
    expect(await tool.preview?.({ a: 'x' }, review, new AbortController().signal)).toBe('+x')
    expect(tool.action?.({})).toMatch(/^runs default in .+\.(mjs|js|ts)$/)
    const broken = 'export default { parameters: { type: "object" }, needsApproval: true, run() {} }'
    await expect(loadText(broken, { export: 'default' })).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining(
        'needsApproval is a value of type boolean. Write needsApproval(args, context) { … }.',
      ),
    })
  })

  const OR =
    'Or describe them with parameters: in agent.yaml for the model; a schema in the code still checks every call.'
  const MISSING = 'does not describe itself as JSON Schema (it has no ~standard.jsonSchema).'
  test.each([
    ['silent', `a model cannot be told its parameters: a schema of tiny ${MISSING} ${OR}`],
    [
      'silentValibot',
      `a model cannot be told its parameters: a schema of valibot ${MISSING} Wrap it in toStandardJsonSchema of @valibot/to-json-schema. ${OR}`,
    ],
    [
      'unspeakable',
      `a model cannot be told its parameters: zod cannot write this schema as JSON Schema: Date cannot be represented in JSON Schema. ${OR}`,
    ],
    ['list', 'its parameters do not describe an object. Write e.g. z.object({ … })'],
    [
      'broken',
      `a model cannot be told its parameters: it is neither a Standard Schema (zod, Valibot, ArkType …) nor a JSON Schema. ${OR}`,
    ],
  ])('is refused when its schema is %s', async (name, message) => {
    await expect(load({ file: schemaTools, export: name })).rejects.toMatchObject({
      code: 'config_invalid',
      message: `${schemaTools} tool look_up: ${message}`,
    })
  })
})

test('a broken JSON Schema is refused, with the reason', async () => {
  const parameters = { type: 'object', properties: { text: { type: 'strnig' } } }
  const text = `export const look_up = { parameters: ${JSON.stringify(parameters)}, run: () => 1 }`
  const { message } = await loadText(text).then(
    () => new Error('it was loaded'),
    (error: Error) => error,
  )
  expect(message).toMatch(/tools-\d+\.ts tool look_up: its parameters: .*\/properties\/text\/type/)
})

describe('what is refused', () => {
  test('a plain function that says nothing about its arguments: the error shows the lines to write', async () => {
    const file = moduleOf('/** Looks something up. */\nexport function look_up(city: string) {}')
    await expect(load({ file })).rejects.toMatchObject({
      code: 'config_invalid',
      message: `${file} tool look_up: look_up is a plain function and does not say which arguments it takes. Replace it in ${basename(file)}, with its own arguments in place of city:
    import { defineTool } from 'quarterdeck'
    import { z } from 'zod'
    export const look_up = defineTool({ description: 'Say here when to use it.', parameters: z.object({ city: z.string() }), run: ({ city }) => city })
  or keep it and describe it in agent.yaml:
    description: Say here when to use it.
    parameters: { city: { type: string } }`,
      details: { file, line: null, tool: 'look_up' },
    })
  })

  test.each([
    ['export const look_up = (place: string) => place', 'look_up', 'look_up is a plain function and does'],
    ['export default () => 1', 'default', 'default is a plain function and does'],
    ['export const look_up = { run: () => 1 }', 'look_up', 'look_up has no parameters, so it does'],
  ])('the lines that the error shows work when they are pasted: %s', async (text, name, problem) => {
    const { message } = await loadText(text, { export: name }).then(
      () => new Error('it was loaded'),
      (error: Error) => error,
    )
    expect(message).toContain(`${problem} not say which arguments it takes.`)
    const lines = message.split('\n').slice(1, 4).join('\n')
    const tool = await loadText(lines, { export: name, description: null })
    expect(tool.description).toBe('Say here when to use it.')
    expect(tool.parameters).toMatchObject({ properties: { city: { type: 'string' } }, required: ['city'] })
  })

  test.each([
    [
      'export const lookUp = () => 1\nexport const other = 1',
      'there is no export look_up. The file exports lookUp, other. Write export: lookUp',
    ],
    [
      'export const a = 1\nexport const b = 1',
      'there is no export look_up. The file exports a, b. Name one of them with export: in agent.yaml.',
    ],
    ['export {}', 'the file exports nothing. Write export const look_up = defineTool({ … })'],
    [
      'export const look_up = 7',
      'the export look_up is a value of type number. Export a tool that defineTool made: { description, parameters, run }.',
    ],
    ['export class look_up {}', 'the export look_up is a class. Export a tool that defineTool made.'],
    [
      'export const look_up = { description: "x" }',
      'the export look_up has no function run. Write look_up = { …, run(args, context) { … } }.',
    ],
  ])('%s', async (text, message) => {
    const file = moduleOf(text)
    await expect(load({ file })).rejects.toMatchObject({
      code: 'config_invalid',
      message: `${file} tool look_up: ${message}`,
      details: { file, line: null, tool: 'look_up' },
    })
  })

  const HELP = 'Say when and why to use it, with description: in defineTool or in agent.yaml.'
  test.each([
    ['/** A comment says nothing. */ export const look_up = () => 1', `it has no description. ${HELP}`],
    [
      'export const look_up = { description: "short", run: () => 1 }',
      `its description is shorter than 10 characters: "short". ${HELP}`,
    ],
  ])('%s, without a description in agent.yaml', async (text, message) => {
    const file = moduleOf(text)
    await expect(load({ file, description: null, parameters: { type: 'object' } })).rejects.toMatchObject({
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
