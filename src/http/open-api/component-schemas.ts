import { z } from 'zod'

export type JsonSchema = Record<string, unknown>

/** Which side of a schema is meant: what a client may send, or what it gets. */
export type Side = 'input' | 'output'

/** Collects the schemas of a document: what has an id, or is long, stands once under `components` and is referred to. */
export interface ComponentSchemas {
  readonly schemas: Readonly<Record<string, JsonSchema>>
  /** The schema, or the reference to it. `name` is for a long one that has no id of its own. */
  add(schema: z.ZodType, side: Side, name: string): JsonSchema
}

const REFERENCE = '#/components/schemas/'
/** Longer ones get a place of their own. */
const LONG_CHARS = 600

export function createComponentSchemas(): ComponentSchemas {
  const schemas: Record<string, JsonSchema> = {}
  const nameOfText = new Map<string, string>()

  /** A free name for this text; the same text keeps the name it has. */
  function place(text: string, wanted: string): string {
    const known = nameOfText.get(text)
    if (known !== undefined) return known
    let name = wanted
    for (let n = 2; schemas[name] !== undefined; n += 1) name = `${wanted}${n}`
    nameOfText.set(text, name)
    return name
  }

  return {
    schemas,
    add(schema, side, name) {
      const {
        $schema: _,
        $defs = {},
        ...root
      } = z.toJSONSchema(schema, {
        io: side,
        unrepresentable: 'any',
        // A mark of AG-UI's for its own tools; no keyword of JSON Schema.
        override: ({ jsonSchema }) => delete jsonSchema.specOpen,
      })
      const names = new Map<string, string>()
      for (const [id, definition] of Object.entries($defs)) {
        // Zod numbers the parts of a recursive schema that have no id.
        const wanted = id.startsWith('__schema') ? `${name}Part${id.slice('__schema'.length)}` : id
        names.set(id, place(textOf(definition, side), wanted))
        // Kept at once, so that the next one does not take the same name.
        schemas[names.get(id) ?? id] ??= {}
      }
      const referring = (value: unknown): JsonSchema => withReferences(value, names)
      for (const [id, definition] of Object.entries($defs)) schemas[names.get(id) ?? id] = referring(definition)
      const own = referring(root)
      const text = textOf(own, side)
      if (text.length <= LONG_CHARS || own.$ref !== undefined) return own
      const placed = place(text, name)
      schemas[placed] = own
      return { $ref: `${REFERENCE}${placed}` }
    },
  }
}

/** What makes two schemas the same. A reference may mean another thing on the other side. */
function textOf(schema: unknown, side: Side): string {
  const text = JSON.stringify(schema)
  return text.includes('"$ref"') ? `${side} ${text}` : text
}

/** A copy whose references lead into `components`. */
function withReferences(value: unknown, names: ReadonlyMap<string, string>): JsonSchema {
  const copy: unknown = JSON.parse(JSON.stringify(value), (key, part: unknown) => {
    if (key !== '$ref' || typeof part !== 'string') return part
    const id = part.replace('#/$defs/', '')
    return `${REFERENCE}${names.get(id) ?? id}`
  })
  return isObject(copy) ? copy : {}
}

const isObject = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
