// JSON.stringify that stops at a limit. A tool may return a value of any size, and cutting the finished text would come too late: making it
// blocks the event loop.

/** The value cannot be written as JSON. The message names the kind of value, never its content. */
export class NotJson extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'NotJson'
  }
}

export interface BoundedJson {
  /** What JSON.stringify returns, or the beginning of it. Undefined where JSON.stringify returns that, as for a function. */
  text: string | undefined
  /** The value has more, which was not read. */
  isCut: boolean
}

const MOST_LEVELS = 1_000

/** Thrown to leave the walk. */
const FULL = Symbol('full')

/**
 * Writes at most `limit` characters. The work is bounded too: about twice as many steps, also for members that JSON leaves out. `refuse`
 * is asked about every object without properties. Throws only `NotJson`, whatever getters, proxies and `toJSON` throw.
 */
export function boundedJson(
  value: unknown,
  limit: number,
  refuse: (empty: object) => NotJson | null = () => null,
): BoundedJson {
  const parts: string[] = []
  const above = new Set<object>()
  let left = limit
  let steps = 2 * limit + 1_000

  function put(text: string): void {
    if (text.length > left) {
      parts.push(text.slice(0, left))
      throw FULL
    }
    parts.push(text)
    left -= text.length
  }

  /** The value that JSON has in its place, after `toJSON`. Undefined if JSON leaves it out. */
  function asShown(given: unknown, key: string): unknown {
    steps -= 1
    if (steps < 0) throw FULL
    const inner = isObject(given) || typeof given === 'bigint' ? replaced(given, key) : given
    if (typeof inner === 'function' || typeof inner === 'symbol') return undefined
    if (inner instanceof Number) return Number(inner)
    if (inner instanceof String) return String(inner)
    return inner instanceof Boolean || inner instanceof BigInt ? inner.valueOf() : inner
  }

  function write(shown: unknown): void {
    if (typeof shown === 'object' && shown !== null) writeObject(shown)
    else put(leafText(shown))
  }

  function leafText(shown: unknown): string {
    switch (typeof shown) {
      case 'string':
        // Only as much is quoted as fits.
        return JSON.stringify(shown.length > left ? shown.slice(0, left) : shown)
      case 'number':
        return Number.isFinite(shown) ? String(shown) : 'null'
      case 'boolean':
        return String(shown)
      case 'bigint':
        throw new NotJson(UNSENDABLE)
      default:
        return 'null'
    }
  }

  function writeObject(holder: object): void {
    if (above.has(holder)) throw new NotJson(UNSENDABLE)
    if (above.size === MOST_LEVELS) throw new NotJson(`it is nested more than ${MOST_LEVELS} levels deep`)
    above.add(holder)
    if (Array.isArray(holder)) writeList(holder)
    else writeMembers(holder)
    above.delete(holder)
  }

  function writeList(list: readonly unknown[]): void {
    const { length } = list
    put('[')
    for (let i = 0; i < length; i += 1) {
      if (i > 0) put(',')
      write(asShown(list[i], String(i)))
    }
    put(']')
  }

  function writeMembers(holder: object): void {
    const keys = Object.keys(holder)
    const problem = keys.length === 0 ? refuse(holder) : null
    if (problem !== null) throw problem
    let before = '{'
    for (const key of keys) {
      const shown = asShown(Reflect.get(holder, key), key)
      if (shown === undefined) continue
      put(before)
      put(JSON.stringify(key))
      put(':')
      write(shown)
      before = ','
    }
    put(before === '{' ? '{}' : '}')
  }

  try {
    const shown = asShown(value, '')
    if (shown === undefined) return { text: undefined, isCut: false }
    write(shown)
    return { text: parts.join(''), isCut: false }
  } catch (error) {
    if (error === FULL) return { text: parts.join(''), isCut: true }
    throw error instanceof NotJson ? error : new NotJson('it cannot be turned into JSON')
  }
}

const UNSENDABLE = 'it holds a BigInt or refers to itself'

const isObject = (value: unknown): value is object =>
  (typeof value === 'object' && value !== null) || typeof value === 'function'

function replaced(value: object | bigint, key: string): unknown {
  const toJson: unknown = Reflect.get(Object(value), 'toJSON')
  return typeof toJson === 'function' ? Reflect.apply(toJson, value, [key]) : value
}
