import { jsonProblem } from '../../json/json-limits.ts'

/** What a tool gave as the JSON value that it is. What is no JSON stays a text, as does what nobody could read as a value. */
export function resultValue(text: string): unknown {
  if (!MAY_BE_JSON.test(text)) return text
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return text
  }
  // A number with more digits than one can hold would come out as another.
  if (typeof value === 'number' && !(Number.isSafeInteger(value) || isFraction(value))) return text
  return jsonProblem(value) === null ? value : text
}

const MAY_BE_JSON = /^\s*["[{\-\dtfn]/

const isFraction = (value: number): boolean => Number.isFinite(value) && !Number.isInteger(value)
