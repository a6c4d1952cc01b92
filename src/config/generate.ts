// The files that are generated from the schemas. `npm run generate` writes them.

import { channels } from '../operators/channels.ts'
import { agentYaml } from './agent/agent-yaml.ts'
import { settingKeys, settings } from './settings/settings.ts'
import { inline } from './source/explain-issues.ts'
import { agentJsonSchema, settingsJsonSchema } from './source/json-schema.ts'
import { expectationOf, isSchema, type JsonSchema, optionsOf, schemaAt } from './source/json-schema-node.ts'
import { validationSchema } from './source/schema-key.ts'

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

/** The new content of each generated file, given its current content: the pages are written by hand around their tables. */
export const generators: Readonly<Record<string, (current: string) => string>> = {
  'schema/agent.schema.json': () => json(agentJsonSchema()),
  'schema/quarterdeck.schema.json': () => json(settingsJsonSchema()),
  'docs/look-up/settings.md': (page) => fillPage(page, settingsTable),
  'docs/look-up/agent-yaml.md': agentPage,
  'docs/do/supervise-a-coding-agent.md': (page) => fillPage(page, channelTable),
  'docs/do/run-it-unattended.md': (page) => fillPage(page, credentialTable),
}

/** The variable of a key follows from it. Names that do not are told with the words. */
function settingsTable(): string {
  const rows = settingKeys.map((key) => {
    const { flag, env, defaultText, description } = settings[key]
    const usual = `QUARTERDECK_${key.replaceAll('.', '_').toUpperCase()}`
    const others = env.filter((name) => name !== usual)
    const place = flag === null ? (env.length === 0 ? 'file' : '–') : code(flag)
    const words = [
      description,
      ...(others.length === 0 ? [] : [`${env.includes(usual) ? 'Also' : 'Variable:'} ${others.map(code).join(', ')}.`]),
    ]
    return [code(key), place, defaultText, words.join(' ')]
  })
  return markdownTable(['key', 'flag', 'default', 'what it does'], rows)
}

function channelTable(): string {
  const rows = channels.map(({ words: { title, docs, help, answers } }) => [`[${title}](${docs})`, help, answers])
  return markdownTable(['channel', 'what you get', 'can you answer there?'], rows)
}

function credentialTable(): string {
  const rows = channels.flatMap(({ credentials }) =>
    Object.entries(credentials).map(([name, { needed }]) => [code(name), code(name.toUpperCase()), needed]),
  )
  return markdownTable(['name', 'variable', 'needed'], rows)
}

/**
 * docs/look-up/agent-yaml.md with new tables. The block `top` lists the top-level keys, `model` the keys of `model` and so on, `tools` the
 * keys that several kinds of tools share, `tools.http` the keys that only this kind has.
 */
function agentPage(page: string): string {
  const schema = validationSchema(agentYaml)
  return fillPage(page, (name) => {
    if (name === 'top') return keyTable(rowsOf([schema], '', false))
    if (name === 'tools') return keyTable(rowsOf([sharedToolKeys(schema)], '', true))
    const [first = '', kind, ...rest] = name.split('.')
    if (first === 'tools' && kind !== undefined && rest.length === 0) {
      return keyTable(rowsOf([ownToolKeys(schema, kind)], '', true))
    }
    const section = schemaAt(schema, name.split('.'))
    if (section === null) throw new Error(`docs/look-up/agent-yaml.md asks for a table of ${name}, which is not a key.`)
    return keyTable(rowsOf(shapesOf(section), '', true))
  })
}

const keyTable = (rows: string[][]): string => markdownTable(['key', 'value', 'what it does'], rows)

const toolKinds = (schema: JsonSchema): JsonSchema[] => optionsOf(schemaAt(schema, ['tools', 0]) ?? {})

const typeOf = (kind: JsonSchema): unknown => schemaAt(kind, ['type'])?.const

/** The keys that most kinds have; a prompt has all of them. */
function sharedToolKeys(schema: JsonSchema): JsonSchema {
  const kinds = toolKinds(schema)
  const prompt = kinds.find((kind) => typeOf(kind) === 'prompt') ?? {}
  const isShared = (key: string) => kinds.filter((kind) => Object.hasOwn(kind.properties ?? {}, key)).length > 2
  const entries = Object.entries(prompt.properties ?? {}).filter(([key]) => isShared(key))
  const type = schemaAt(schema, ['tools', 0, 'type']) ?? {}
  return { ...prompt, properties: Object.fromEntries(entries.map(([key, one]) => [key, key === 'type' ? type : one])) }
}

function ownToolKeys(schema: JsonSchema, type: string): JsonSchema {
  const kind = toolKinds(schema).find((one) => typeOf(one) === type)
  if (kind === undefined)
    throw new Error(`docs/look-up/agent-yaml.md asks for a table of tools.${type}, which is not a kind of tool.`)
  const shared = sharedToolKeys(schema).properties ?? {}
  return {
    ...kind,
    properties: Object.fromEntries(
      Object.entries(kind.properties ?? {}).filter(([key]) => !Object.hasOwn(shared, key)),
    ),
  }
}

/** The shapes that a value can have; for a list, those of its entries. */
const shapesOf = (node: JsonSchema): JsonSchema[] =>
  optionsOf(node).flatMap((option) => (isSchema(option.items) ? shapesOf(option.items) : [option]))

function rowsOf(shapes: readonly JsonSchema[], prefix: string, deep: boolean): string[][] {
  return shapes.flatMap((shape) =>
    Object.keys(shape.properties ?? {}).flatMap((key) => {
      const child = schemaAt(shape, [key]) ?? {}
      const isRequired = shape.required?.includes(key) ?? false
      const isList = optionsOf(child).some((option) => option.type === 'array')
      // `model` and `fallback` have the same keys as an agent's model, and `default` of an approval those of a tool's approval.
      const isLeaf = !deep || key === 'model' || key === 'fallback' || key === 'default'
      const below = isLeaf ? [] : rowsOf(shapesOf(child), `${prefix}${key}${isList ? '[]' : ''}.`, deep)
      const value = [shortValue(child), ...defaultOf(child, isRequired)].join('; ')
      return [[code(`${prefix}${key}`), value, child.description ?? ''], ...below]
    }),
  )
}

function defaultOf(node: JsonSchema, isRequired: boolean): string[] {
  if (isRequired) return ['**required**']
  const value = node.default
  if (value === undefined || value === '' || value === false || typeof value === 'object') return []
  return [`default ${code(inline(value))}`]
}

/** Messages about mistakes say it in whole words; the page explains the short ones once. */
const SHORT_VALUES: readonly (readonly [RegExp, string])[] = [
  [/^(?:zero or more )?seconds, or a time such as .*$/, 'time'],
  [/^a whole number of at least /, 'integer ≥ '],
  [/^a whole number between (\d+) and /, 'integer $1–'],
  [/^a number between (\d+) and /, '$1–'],
  [/^a number of at least /, 'number ≥ '],
  [/^a number above /, 'number > '],
  [/^true or false$/, 'true, false'],
  [/^one of /, ''],
  [/^keys with values$/, 'keys'],
  [/^an? (?=list|JSON Schema)/, ''],
  [/^a name of (?:up to 64 )?letters, digits.*$/, 'name'],
  [/^an http or https URL$/, 'URL'],
  [/^text, or one of the keys .*$/, 'text or keys'],
  [/^.*a glob, or a list of them$/, 'globs'],
  [/^conditions on arguments.*$/, 'conditions'],
  [/^(?:header|variable|tool) names with .*$/, 'map'],
  [/^JSON Schema, or names .*$/, 'JSON Schema or map'],
  [/^a number of people .*$/, 'integer 1–20, or keys'],
  [/^list of at most .*$/, 'list'],
]

const shortValue = (node: JsonSchema): string =>
  SHORT_VALUES.reduce((text, [long, short]) => text.replace(long, short), expectationOf(node))

const BLOCK = /(<!-- ?generated: ?([\w. -]+?) ?-->\n)[\s\S]*?(<!-- ?end ?-->)/g

/** The page with the content of every block replaced; `render` gets the name of the block. */
export function fillPage(page: string, render: (name: string) => string): string {
  return page.replaceAll(BLOCK, (_, begin: string, name: string, end: string) => `${begin}\n${render(name)}\n${end}`)
}

export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line), ''].join('\n')
}

const code = (text: string): string => `\`${text}\``
