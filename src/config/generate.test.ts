import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { formatIssue } from './config-error.ts'
import { generators } from './generate.ts'
import { agentJsonSchema, settingsJsonSchema } from './json-schema.ts'
import { type JsonSchema, keysOf, schemaAt } from './json-schema-node.ts'
import { checkAgent } from './load-agent.ts'
import { resolveSettings } from './resolve-settings.ts'
import { settingKeys } from './settings.ts'
import { createMemoryFiles } from './testing/memory-files.ts'

const root = join(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')

describe('generated files', () => {
  test.each(Object.keys(generators))('%s is up to date', (file) => {
    const current = read(file)
    expect(current, `${file} differs from what the schemas say; run: npm run generate`).toBe(
      generators[file]?.(current),
    )
  })

  test('the tables list every key', () => {
    const page = read('docs/agent-yaml.md')
    const keys = keysOf(agentJsonSchema())
    expect(keys.filter((key) => !page.includes(`| \`${key}\` |`))).toEqual([])
    const settingsPage = read('docs/settings.md')
    expect(settingKeys.filter((key) => !settingsPage.includes(`| \`${key}\` |`))).toEqual([])
  })
})

/** The fenced blocks of a page: what stands behind the three marks, and the text. */
const blocks = (page: string): { kind: string; text: string }[] =>
  [...page.matchAll(/^```([^\n]*)\n([\s\S]*?)^```$/gm)].map(([, kind = '', text = '']) => ({ kind, text }))

/** An example that shows a part of the file, made whole. */
function completed(yaml: string): string {
  const parts = { name: 'name: example', model: 'model: { provider: demo }', instructions: 'instructions: Be kind.' }
  const missing = Object.entries(parts).filter(([key]) => !new RegExp(`^${key}:`, 'm').test(yaml))
  return [...missing.map(([, line]) => line), yaml].join('\n')
}

const issuesOf = (yaml: string): string[] => {
  const files = createMemoryFiles({ '/agent.yaml': yaml })
  return checkAgent('/agent.yaml', { env: {}, files }).issues.map(formatIssue)
}

const agentExamples = blocks(read('docs/agent-yaml.md'))
const whole = agentExamples.filter(({ kind }) => kind === 'yaml').map(({ text }) => completed(text))

describe('docs/agent-yaml.md', () => {
  test('has examples', () => {
    expect(whole.length).toBeGreaterThan(10)
  })

  test.each(whole)('its example loads: %s', (yaml) => {
    expect(issuesOf(yaml)).toEqual([])
  })

  test.each(agentExamples.filter(({ kind }) => kind.includes('not-available-yet')))(
    'what it calls not available yet is just that: $text',
    ({ text }) => {
      expect(issuesOf(completed(text))).toEqual([expect.stringContaining('not available in this version yet')])
    },
  )
})

describe('docs/settings.md', () => {
  test('its example is accepted', () => {
    const examples = blocks(read('docs/settings.md')).filter(({ kind }) => kind === 'yaml')
    expect(examples).toHaveLength(1)
    const file = { path: 'quarterdeck.yaml', text: examples[0]?.text ?? '' }
    const { settings } = resolveSettings({ flags: {}, env: {}, file, onTerminal: false })
    expect([settings.port, settings.auth.required, settings.limits.disconnectGraceMs]).toEqual([8080, true, 30_000])
  })
})

describe('examples/assistant/agent.yaml', () => {
  const text = read('examples/assistant/agent.yaml')

  test('loads, and needs nothing but itself', () => {
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

  test('accept a variable where a number, a word or a switch belongs', () => {
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

  test('explain every key and show how it is written', () => {
    const silent = (schema: JsonSchema, path: string[]): string[] =>
      keysOf(schemaAt(schema, path) ?? {}).flatMap((key) => {
        const node = schemaAt(schema, [...path, key]) ?? {}
        const below = silent(schema, [...path, key])
        return (node.description && node.examples) || keysOf(node).length > 0
          ? below
          : [[...path, key].join('.'), ...below]
      })
    expect([...silent(agentJsonSchema(), []), ...silent(settingsJsonSchema(), [])]).toEqual([])
  })
})
