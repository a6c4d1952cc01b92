import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { isPublicFile, whatToDo } from '../../scripts/version-rule.ts'
import { checkAgent } from './agent/load-agents.ts'
import { formatIssue } from './config-error.ts'
import { generators } from './generate.ts'
import { resolveSettings } from './settings/resolve-settings.ts'
import { settingKeys } from './settings/settings.ts'
import { agentJsonSchema, settingsJsonSchema } from './source/json-schema.ts'
import { isSchema, type JsonSchema, keysOf, optionsOf, schemaAt } from './source/json-schema-node.ts'
import { createMemoryFiles } from './testing/memory-files.ts'

const root = join(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')

describe('generated files', () => {
  test.each(Object.keys(generators))('%s is up to date', (file) => {
    const current = read(file)
    const made = generators[file]?.(current) ?? ''
    const advice = isPublicFile(file)
      ? whatToDo(file, current, made, JSON.parse(read('package.json')).version)
      : `${file} differs from what the schemas say; run: npm run generate`
    expect(current, advice).toBe(made)
  })

  test('the tables list every key', () => {
    const page = read('docs/look-up/agent-yaml.md')
    const keys = keysOf(agentJsonSchema())
    expect(keys.filter((key) => !page.includes(`| \`${key}\` |`))).toEqual([])
    const withKeys = keys.filter((key) => hasKeys(schemaAt(agentJsonSchema(), [key]) ?? {}))
    expect(withKeys.filter((key) => !page.includes(`\n### ${key}\n`))).toEqual([])
    const settingsPage = read('docs/look-up/settings.md')
    expect(settingKeys.filter((key) => !settingsPage.includes(`| \`${key}\` |`))).toEqual([])
  })
})

/** Whether a value, or an entry of a list, has keys that we know. */
const hasKeys = (node: JsonSchema): boolean =>
  optionsOf(node).some((one) => one.properties !== undefined || (isSchema(one.items) && hasKeys(one.items)))

/** The fenced code blocks of a page: the words after the fence, and the text. */
const blocks = (page: string): { kind: string; text: string }[] =>
  [...page.matchAll(/^```([^\n]*)\n([\s\S]*?)^```$/gm)].map(([, kind = '', text = '']) => ({ kind, text }))

/** Completes an example that only shows a part of the file. */
function completed(yaml: string): string {
  const parts = { name: 'name: example', model: 'model: { provider: demo }', instructions: 'instructions: Be kind.' }
  const missing = Object.entries(parts).filter(([key]) => !new RegExp(`^${key}:`, 'm').test(yaml))
  return [...missing.map(([, line]) => line), yaml].join('\n')
}

/** The files that the examples of the page name. */
const namedFiles = {
  '/tools.ts': 'export const getWeather = () => 20',
  '/openapi.yaml': 'openapi: 3.1.0',
  '/translate.md': 'Translate into {language}: {text}',
  '/handbook/leave.md': '# Leave',
  '/policies/travel/trains.pdf': '%PDF-',
  '/invoice.pdf': '%PDF-',
  '/tutor.yaml': 'name: tutor\ndescription: Explains a topic.\nmodel: { provider: demo }\ninstructions: Explain.\n',
}

const issuesOf = (yaml: string): string[] => {
  const files = createMemoryFiles({ ...namedFiles, '/agent.yaml': yaml })
  return checkAgent('/agent.yaml', { env: {}, files }).issues.map(formatIssue)
}

const agentExamples = blocks(read('docs/look-up/agent-yaml.md'))
const whole = agentExamples.filter(({ kind }) => kind === 'yaml').map(({ text }) => completed(text))

describe('docs/look-up/agent-yaml.md', () => {
  test('has examples', () => {
    expect(whole.length).toBeGreaterThan(10)
  })

  test.each(whole)('its example loads: %s', (yaml) => {
    expect(issuesOf(yaml)).toEqual([])
  })
})

describe('docs/look-up/settings.md', () => {
  test('its example is accepted', () => {
    const examples = blocks(read('docs/look-up/settings.md')).filter(({ kind }) => kind === 'yaml')
    expect(examples).toHaveLength(1)
    const file = { path: 'quarterdeck.yaml', text: examples[0]?.text ?? '' }
    const { settings } = resolveSettings({ flags: {}, env: {}, file, onTerminal: false })
    expect([settings.port, settings.auth.required, settings.limits.disconnectGraceMs]).toEqual([8080, true, 30_000])
  })
})

describe('examples/assistant/agent.yaml', () => {
  const text = read('examples/assistant/agent.yaml')

  test('loads, and needs no other file', () => {
    expect(issuesOf(text)).toEqual([])
    expect(parse(text).model).toEqual({ provider: 'demo' })
  })

  test('names the schema that editors use', () => {
    const [, schema = ''] = /^# yaml-language-server: \$schema=(\S+)\n/.exec(text) ?? []
    expect(JSON.parse(read(join('examples/assistant', schema))).title).toBe('agent.yaml')
  })

  test('every model it offers in comments loads too', () => {
    const offers = text
      .split(/^#\n/m)
      .map((part) => part.replace(/\n\n[\s\S]*$/, ''))
      .filter((part) => part.startsWith('# model:'))
      .map((part) => part.replaceAll(/^# /gm, ''))
    expect(offers.map((offer) => parse(offer).model.provider)).toEqual([
      'openai',
      'anthropic',
      'google',
      'ollama',
      'openai',
    ])
    expect(offers.flatMap((offer) => issuesOf(completed(offer)))).toEqual([])
  })
})

describe('the JSON Schemas', () => {
  const accepts = (schema: JsonSchema) => {
    const checked = z.fromJSONSchema(schema)
    return (yaml: string) => checked.safeParse(parse(yaml)).success
  }
  const agent = accepts(agentJsonSchema())
  const server = accepts(settingsJsonSchema())

  test.each(whole)('accept what the loader accepts: %s', (yaml) => {
    expect(agent(yaml)).toBe(true)
  })

  test.each([
    '{ type: htp, name: a }',
    '{ type: client, name: a, description: Ten letters at least., approval: always }',
    '{ type: client, name: a, description: Ten letters at least., colour: red }',
    '{ type: mcp, name: a, command: x, env: { A: [1] } }',
    '{ type: mcp, name: a, command: x, tools: { b: { rsk: low } } }',
    '{ type: function, name: a, file: tools.py }',
    '{ type: function, name: a, file: a.ts, approval: sometimes }',
    '{ type: function, name: a, file: a.ts, approval: { when: { b: { abov: 1 } } } }',
  ])('refuse the tool %s', (tool) => {
    expect(agent(completed(`tools: [${tool}]`))).toBe(false)
  })

  test.each([
    'temperature: hot',
    'temperature: 3',
    'temprature: 1',
    'provider: opnai',
    'max_tokens: 0',
    'token_timeout: soon',
    'retries: []',
  ])('refuse a model with %s', (line) => {
    expect(agent(completed(`model: { ${line.startsWith('provider') ? '' : 'provider: demo, '}${line} }`))).toBe(false)
  })

  test('accept a variable in place of a number, a word or a switch', () => {
    const variable = '"$' + '{X:-1}"'
    expect(agent(completed(`default: ${variable}\nmodel: { provider: ${variable}, temperature: ${variable} }`))).toBe(
      true,
    )
    expect(server(`port: ${variable}\nopen: ${variable}\nlog: { level: ${variable} }\nprotocols: ${variable}`)).toBe(
      true,
    )
  })

  test('check the settings of a server', () => {
    expect([
      server('port: 80'),
      server('port: eighty'),
      server('prot: 80'),
      server('limits: { sessions: none, queue: 0 }'),
    ]).toEqual([true, false, false, true])
  })

  test('have a description and an example for every key, also inside lists, maps and every kind of tool', () => {
    const silent = (node: JsonSchema, path: string): string[] =>
      optionsOf(node).flatMap((option) => [
        ...Object.entries(option.properties ?? {}).flatMap(([key, one]) => {
          const child = isSchema(one) ? one : {}
          const here = `${path}.${key}`
          const below = silent(child, here)
          const isSection = optionsOf(child).some(({ properties }) => properties !== undefined)
          return (child.description && child.examples) || isSection || child.const !== undefined
            ? below
            : [here, ...below]
        }),
        ...(isSchema(option.items) ? silent(option.items, `${path}[]`) : []),
        ...(isSchema(option.additionalProperties) ? silent(option.additionalProperties, `${path}.*`) : []),
      ])
    const schemas = [agentJsonSchema(), settingsJsonSchema()]
    const definitions = schemas.flatMap((schema) => Object.values(schema.definitions ?? {}))
    expect([...schemas, ...definitions.filter(isSchema)].flatMap((schema) => silent(schema, ''))).toEqual([])
  })
})
