import { z } from 'zod'
import { isRecord } from '../../domain/is-record.ts'

export type JsonSchema = Record<string, unknown>

/** The side of a schema: what a client may send, or what it gets. */
type Side = 'input' | 'output'

export type ComponentSchemas = ReturnType<typeof createComponentSchemas>

const REFERENCE = '#/components/schemas/'
/** Longer schemas become components. */
const LONG_CHARS = 600

/** Collects the schemas of a document. A schema with an id, and a long one, is stored once under `components` and referenced. */
export function createComponentSchemas() {
  const schemas: Record<string, JsonSchema> = {}
  const nameOfText = new Map<string, string>()

  /** Returns a free name for this text. The same text always gets the same name. */
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
    /** Returns the schema or a reference to it. `name` is used for a long schema without an id. */
    add(schema: z.ZodType, side: Side, name: string): JsonSchema {
      const {
        $schema: _,
        $defs = {},
        ...root
      } = z.toJSONSchema(schema, {
        io: side,
        unrepresentable: 'any',
        override({ jsonSchema }) {
          // AG-UI uses it for its own tools. It is not a JSON Schema keyword.
          delete jsonSchema.specOpen
          // The example stands beside the schema, in the answers that have it.
          delete jsonSchema.example
        },
      })
      const names = new Map<string, string>()
      for (const [id, definition] of Object.entries($defs)) {
        // Zod numbers the parts of a recursive schema that have no id.
        const wanted = id.startsWith('__schema') ? `${name}Part${id.slice('__schema'.length)}` : id
        names.set(id, place(textOf(definition, side), wanted))
        // Reserved at once, so that the next one does not take the same name.
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

/** Two schemas are the same if their texts are. References may differ between input and output, so the side is part of the text. */
function textOf(schema: unknown, side: Side): string {
  const text = JSON.stringify(schema)
  return text.includes('"$ref"') ? `${side} ${text}` : text
}

/** A copy whose references point to `components`. */
function withReferences(value: unknown, names: ReadonlyMap<string, string>): JsonSchema {
  const copy: unknown = JSON.parse(JSON.stringify(value), (key, part: unknown) => {
    if (key !== '$ref' || typeof part !== 'string') return part
    const id = part.replace('#/$defs/', '')
    return `${REFERENCE}${names.get(id) ?? id}`
  })
  return isRecord(copy) ? copy : {}
}
