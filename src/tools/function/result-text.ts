/** What a function gave back cannot be sent. The message names the kind of value, never what is in it. */
export class NotJson extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'NotJson'
  }
}

/** A string as it is, nothing as the empty text, everything else as JSON. Throws `NotJson`. */
export function resultText(result: unknown): string {
  if (typeof result === 'string') return result
  if (result === undefined || result === null) return ''
  const text = stringify(result)
  if (text === undefined) throw new NotJson(`a ${typeof result} is not JSON`)
  return text
}

function stringify(result: unknown): string | undefined {
  try {
    return JSON.stringify(result, refuseHollow)
  } catch (error) {
    if (error instanceof NotJson) throw error
    // The engine's own text would name the properties of a cycle.
    const why = error instanceof TypeError ? 'it holds a BigInt or refers to itself' : 'it cannot be turned into JSON'
    throw new NotJson(why)
  }
}

/** JSON turns a Map, a Response or a Promise into `{}` without a word. */
function refuseHollow(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || Object.keys(value).length > 0) return value
  const prototype: unknown = Object.getPrototypeOf(value)
  // The prototype of plain objects has none itself, in every realm.
  if (prototype === null || Object.getPrototypeOf(prototype) === null) return value
  throw new NotJson(`JSON cannot carry a ${value.constructor?.name || 'value of this class'}`)
}
