/** What somebody wrote, short enough for a line of an error. */
export function describeValue(value: unknown): string {
  if (value === null) return 'nothing'
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list'
  if (typeof value === 'object') {
    const keys = Object.keys(value)
    return keys.length === 0 ? 'an empty map' : `keys (${cut(keys.join(', '))})`
  }
  // An address may hold a password.
  return typeof value === 'string' ? JSON.stringify(cut(value.replace(/\/\/[^/@]*@/, '//…@'))) : String(value)
}

const cut = (text: string): string => (text.length > 60 ? `${text.slice(0, 60)}…` : text)
