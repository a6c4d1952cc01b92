// The answers to a tool's question that are worth a button each.

import { isRecord } from '../../../domain/is-record.ts'
import type { JsonSchema } from '../../../domain/tool-settings.ts'
import { shownLine } from './shown-text.ts'

export interface Choice {
  /** What the button says. It begins with a word of ours, so that a tool cannot imitate another button. */
  label: string
  /** The whole answer: the `result` of a decision to `respond`. */
  answer: unknown
}

const MOST_CHOICES = 5
/** Slack cuts longer buttons. */
const MOST_LABEL = 60

/** Empty: the answer must be written. The question has one field (or is one value) with a few allowed values. */
export function choicesOf(schema: JsonSchema): Choice[] {
  const [name, field] = soleField(schema)
  const values = allowedValues(field)
  if (values.length === 0 || values.length > MOST_CHOICES) return []
  const choices = values.map((value): Choice & { isCut: boolean } => {
    const { text, isCut } = shownLine(valueText(value), MOST_LABEL)
    return { label: `Answer: ${text}`, answer: name === null ? value : { [name]: value }, isCut }
  })
  const labels = new Set(choices.map(({ label }) => label))
  // A person must see the whole answer, and see which of two it is.
  if (labels.size < choices.length || choices.some(({ isCut }) => isCut)) return []
  return choices.map(({ label, answer }) => ({ label, answer }))
}

function soleField(schema: JsonSchema): [name: string | null, field: Record<string, unknown>] {
  if (!isRecord(schema.properties)) return [null, schema]
  const fields = Object.entries(schema.properties)
  const [first] = fields
  return fields.length === 1 && first !== undefined && isRecord(first[1]) ? [first[0], first[1]] : [null, {}]
}

function allowedValues(field: Record<string, unknown>): unknown[] {
  if (Array.isArray(field.enum)) return field.enum
  const several = Array.isArray(field.oneOf) ? field.oneOf : []
  if (several.length > 0 && several.every((one) => isRecord(one) && 'const' in one)) {
    return several.map((one) => (isRecord(one) ? one.const : null))
  }
  return field.type === 'boolean' ? [true, false] : []
}

const valueText = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? 'null'))
