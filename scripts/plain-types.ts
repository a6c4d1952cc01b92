// The client's types come from the server's schemas (`src/client/wire.ts`), but whoever installs the client has no zod. So the
// published declaration has the same types as plain TypeScript, with the descriptions of the schemas as comments.

import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { z } from 'zod'
import type { $ZodType, $ZodTypes } from 'zod/v4/core'

type Side = 'input' | 'output'

interface WireType {
  name: string
  side: Side
  schema: $ZodType
  /** The comment before the type, or empty. */
  comment: string
}

/** The declaration of a module that has only lines like `export type { Name } from './schema.ts'`. */
export async function plainTypes(module: string): Promise<string> {
  const found = readFileSync(module, 'utf8').matchAll(/^export type \{([^}]*)\} from '([^']+)'/gm)
  const types: WireType[] = []
  for (const [, list = '', path = ''] of found) {
    const names = list.split(',').flatMap((name) => name.trim() || [])
    types.push(...(await readTypes(join(dirname(module), path), names)))
  }
  // `describe` and `meta` copy a schema. The copies share its definition.
  const names = new Map(types.map(({ name, schema }) => [schema._zod.def as object, name]))
  return types.map((type) => declarationOf(type, names)).join('\n')
}

/** Finds `export type Name = z.output<typeof NameSchema>`, and loads the schema. */
async function readTypes(path: string, names: readonly string[]): Promise<WireType[]> {
  const text = readFileSync(path, 'utf8')
  const schemas: Record<string, $ZodType | undefined> = await import(pathToFileURL(path).href)
  return names.map((name) => {
    const line = new RegExp(`(/\\*\\*(?:(?!\\*/)[^])*\\*/\\n)?export type ${name} = z\\.(input|output)<typeof (\\w+)>`)
    const [, comment = '', side, constant = ''] = line.exec(text) ?? []
    const schema = schemas[constant]
    if (schema === undefined || (side !== 'input' && side !== 'output')) {
      throw new Error(`${path} needs a line like: export type ${name} = z.output<typeof ${name}Schema>`)
    }
    return { name, side, schema, comment }
  })
}

function declarationOf({ name, side, schema, comment }: WireType, names: ReadonlyMap<object, string>): string {
  const type = typeText(schema, { side, names, indent: '' }, name)
  const isObject = type.startsWith('{\n') && schema._zod.def.type === 'object'
  return `${comment}export ${isObject ? `interface ${name}` : `type ${name} =`} ${type}\n`
}

interface Place {
  side: Side
  names: ReadonlyMap<object, string>
  indent: string
}

/** `declared`: the name of the type that this text declares, so it is not used in its own place. */
function typeText(schema: $ZodType, place: Place, declared?: string): string {
  const { def } = (schema as $ZodTypes)._zod
  const name = place.names.get(def)
  if (name !== undefined && name !== declared) return name
  const inner = (one: $ZodType): string => typeText(one, place)
  const anyOf = (types: readonly string[]): string => [...new Set(types)].join(' | ')
  switch (def.type) {
    case 'string':
    case 'number':
    case 'boolean':
    case 'null':
    case 'unknown':
      return def.type
    case 'literal':
      return anyOf(def.values.map((value) => (typeof value === 'string' ? `'${value}'` : String(value))))
    case 'enum':
      return anyOf(Object.values(def.entries).map((value) => `'${value}'`))
    case 'array':
      return isName(def.element, place) ? `${inner(def.element)}[]` : `(${inner(def.element)})[]`
    case 'tuple':
      return `[${def.items.map(inner).join(', ')}]`
    case 'record':
      return `Record<${inner(def.keyType)}, ${inner(def.valueType)}>`
    case 'object':
      return objectText(def.shape, def.catchall?._zod.def.type === 'unknown', place)
    case 'union':
      return anyOf(def.options.map(inner))
    case 'intersection':
      return `${inner(def.left)} & ${inner(def.right)}`
    case 'nullable':
      return anyOf([inner(def.innerType), 'null'])
    case 'optional':
      return isExact(schema) ? inner(def.innerType) : anyOf([inner(def.innerType), 'undefined'])
    case 'default':
      return place.side === 'output' ? inner(def.innerType) : anyOf([inner(def.innerType), 'undefined'])
    case 'lazy':
      // Only the getter of the named schema leads back to it.
      return typeText(def.getter(), place, declared)
    default:
      throw new Error(`The client has no type for a schema of the kind ${def.type}.`)
  }
}

/** Whether its text is one word or one object, so that it needs no brackets. */
const isName = ({ _zod: { def } }: $ZodType, { names }: Place): boolean =>
  names.has(def) || !['enum', 'union', 'intersection', 'nullable', 'literal'].includes(def.type)

const isExact = (schema: $ZodType): boolean => schema._zod.traits.has('$ZodExactOptional')

function objectText(shape: Readonly<Record<string, $ZodType>>, isLoose: boolean, place: Place): string {
  const indent = `${place.indent}  `
  const fields = Object.entries(shape).map(([key, schema]) => {
    const isOptional = schema._zod[place.side === 'input' ? 'optin' : 'optout'] !== undefined
    const description = descriptionOf(schema)
    const comment = description === undefined ? '' : `${indent}/** ${description} */\n`
    return `${comment}${indent}${key}${isOptional ? '?' : ''}: ${typeText(schema, { ...place, indent })}\n`
  })
  if (isLoose) fields.push(`${indent}[key: string]: unknown\n`)
  return fields.length === 0 ? 'Record<string, never>' : `{\n${fields.join('')}${place.indent}}`
}

/** Of the field, or of what may be left out or null in it. */
function descriptionOf(schema: $ZodType): string | undefined {
  const { def } = (schema as $ZodTypes)._zod
  const own = z.globalRegistry.get(schema)?.description
  if (own !== undefined || (def.type !== 'nullable' && def.type !== 'optional' && def.type !== 'default')) return own
  return descriptionOf(def.innerType)
}

interface ReachableTypes {
  /** Paths of the entries and of all declarations that they import. */
  files: Set<string>
  /** Packages whose types they use. */
  packages: Set<string>
}

/** Finds the declarations and packages that a program needs if it imports `entries`. */
export function reachableTypes(entries: readonly string[]): ReachableTypes {
  const files = new Set(entries)
  const packages = new Set<string>()
  // The loop also visits files that are added to the set while it runs.
  for (const file of files) {
    for (const [, specifier = ''] of readFileSync(file, 'utf8').matchAll(/(?:from |import\()["']([^"']+)["']/g)) {
      if (specifier.startsWith('.')) files.add(join(dirname(file), specifier.replace(/\.[jt]s$/, '.d.ts')))
      else if (!specifier.startsWith('node:')) packages.add(/^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier)
    }
  }
  return { files, packages }
}
