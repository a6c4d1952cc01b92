import { agentFile } from './agent-file.ts'
import { inline } from './explain-issues.ts'
import { exampleOf, expectationOf, type JsonSchema, optionsOf, schemaAt } from './json-schema-node.ts'
import { code, fillPage, markdownTable } from './reference-page.ts'
import { validationSchema } from './validation-schema.ts'

/** docs/agent-yaml.md with its tables made anew. The block `top` lists the top-level keys, `model` the keys of model … */
export function agentPage(page: string): string {
  const schema = validationSchema(agentFile)
  return fillPage(page, (name) => {
    if (name === 'top') return keyTable(rowsOf(schema, '', false))
    const section = schemaAt(schema, name.split('.'))
    if (section === null) throw new Error(`docs/agent-yaml.md asks for a table of ${name}, which is no key.`)
    return keyTable(rowsOf(section.type === 'array' ? (schemaAt(section, [0]) ?? {}) : section, '', true))
  })
}

const keyTable = (rows: string[][]): string => markdownTable(['key', 'value', 'default', 'what it does'], rows)

function rowsOf(node: JsonSchema, prefix: string, deep: boolean): string[][] {
  return optionsOf(node).flatMap((option) =>
    Object.keys(option.properties ?? {}).flatMap((key) => {
      const child = schemaAt(option, [key]) ?? {}
      const isRequired = option.required?.includes(key) ?? false
      const row = [code(`${prefix}${key}`), expectationOf(child), defaultOf(child, isRequired), explained(child)]
      // `fallback` has the keys of the model it stands in.
      return deep && key !== 'fallback' ? [row, ...rowsOf(child, `${prefix}${key}.`, deep)] : [row]
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
