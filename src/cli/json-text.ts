const WIDTH = 120

/** JSON in the layout of this repository's formatter: objects over several lines, short lists of plain values on one line. */
export function jsonText(value: unknown): string {
  return `${layOut(value, '', 0)}\n`
}

/** `taken`: how many characters come before it on its line. */
function layOut(value: unknown, indent: string, taken: number): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const deeper = `${indent}  `
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]'
    const isPlain = value.every((item) => isFlat(item))
    const line = `[${value.map((item) => layOut(item, deeper, 0)).join(', ')}]`
    // Plus one for a comma.
    if (isPlain && taken + line.length + 1 <= WIDTH) return line
    return `[\n${value.map((item) => `${deeper}${layOut(item, deeper, deeper.length)}`).join(',\n')}\n${indent}]`
  }
  const entries = Object.entries(value).filter(([, item]) => item !== undefined)
  if (entries.length === 0) return '{}'
  const lines = entries.map(([key, item]) => {
    const start = `${deeper}${JSON.stringify(key)}: `
    return `${start}${layOut(item, deeper, start.length)}`
  })
  return `{\n${lines.join(',\n')}\n${indent}}`
}

/** Not an object with members, and no list that holds one. */
const isFlat = (value: unknown): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (Array.isArray(value) ? value.every(isFlat) : Object.keys(value).length === 0)
