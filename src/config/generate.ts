// The files that are generated from the schemas. `npm run generate` writes them.

import { channels } from '../operators/channels.ts'
import { agentYaml } from './agent/agent-yaml.ts'
import { settingKeys, settings } from './settings/settings.ts'
import { inline } from './source/explain-issues.ts'
import { agentJsonSchema, settingsJsonSchema } from './source/json-schema.ts'
import { exampleOf, expectationOf, isSchema, type JsonSchema, optionsOf, schemaAt } from './source/json-schema-node.ts'
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

function settingsTable(): string {
  const rows = settingKeys.map((key) => {
    const { flag, env, defaultText, description, example } = settings[key]
    const [own, ...aliases] = env.map(code)
    return [
      code(key),
      flag === null ? '–' : code(flag),
      own === undefined ? '–' : aliases.length === 0 ? own : `${own} (${aliases.join(', ')})`,
      defaultText,
      `${description} E.g. ${code(inline(example))}`,
    ]
  })
  return markdownTable(['key', 'flag', 'environment (aliases)', 'default', 'what it does'], rows)
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

const keyTable = (rows: string[][]): string => markdownTable(['key', 'value', 'default', 'what it does'], rows)

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
      const row = [code(`${prefix}${key}`), expectationOf(child), defaultOf(child, isRequired), explained(child)]
      // `fallback` has the same keys as the model around it.
      if (!deep || key === 'fallback') return [row]
      const isList = optionsOf(child).some((option) => option.type === 'array')
      return [row, ...rowsOf(shapesOf(child), `${prefix}${key}${isList ? '[]' : ''}.`, deep)]
    }),
  )
}

function defaultOf(node: JsonSchema, isRequired: boolean): string {
  if (isRequired) return '**required**'
  const value = node.default
  if (value === undefined || value === '' || (typeof value === 'object' && value !== null)) return '–'
  return code(inline(value))
}

const explained = (node: JsonSchema): string => `${node.description ?? ''} E.g. ${code(inline(exampleOf(node)))}`

const BLOCK = /(<!-- generated: ([\w.]+) -->\n)[\s\S]*?(<!-- end -->)/g

/** The page with the content of every block replaced; `render` gets the name of the block. */
function fillPage(page: string, render: (name: string) => string): string {
  return page.replaceAll(BLOCK, (_, begin: string, name: string, end: string) => `${begin}\n${render(name)}\n${end}`)
}

function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line), ''].join('\n')
}

const code = (text: string): string => `\`${text}\``
