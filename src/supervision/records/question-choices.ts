// The answers to a tool's question that are worth a button each.

import type { JsonSchema } from '../../domain/agent/tool-settings.ts'
import { isRecord } from '../../domain/is-record.ts'
import { visibleCode } from '../../domain/text/visible-text.ts'
import type { RecordAction } from './record-view.ts'

const MOST_CHOICES = 5
/** Of a button: a longer one would be cut. */
const MOST_LABEL = 68

type Choice = RecordAction['choices'][number]

/** Empty: the answer must be written. The question has one field (or is one value) with a few allowed values. */
export function choicesOf(schema: JsonSchema): Choice[] {
  const [name, field] = soleField(schema)
  const values = allowedValues(field)
  if (values.length === 0 || values.length > MOST_CHOICES) return []
  const choices = values.map((value): Choice => {
    const text = visibleCode([valueText(value)]).join('')
    // It begins with a word of ours, so that a tool cannot imitate another button.
    return { label: `Answer: ${text}`, answer: name === null ? value : { [name]: value } }
  })
  const labels = new Set(choices.map(({ label }) => label))
  // A person must see the whole answer, and see which of two it is.
  const isClear = labels.size === choices.length && choices.every(({ label }) => label.length <= MOST_LABEL)
  return isClear ? choices : []
}

function soleField(schema: JsonSchema): [name: string | null, field: Record<string, unknown>] {
  if (!isRecord(schema.properties)) return [null, schema]
  const fields = Object.entries(schema.properties)
  const [first] = fields
  return fields.length === 1 && first !== undefined && isRecord(first[1]) ? [first[0], first[1]] : [null, {}]
}

/** Empty: it may have many. */
export function allowedValues(field: Record<string, unknown>): unknown[] {
  if (Array.isArray(field.enum)) return field.enum
  const several = Array.isArray(field.oneOf) ? field.oneOf : []
  if (several.length > 0 && several.every((one) => isRecord(one) && 'const' in one)) {
    return several.map((one) => (isRecord(one) ? one.const : null))
  }
  return field.type === 'boolean' ? [true, false] : []
}

export const valueText = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? 'null')
