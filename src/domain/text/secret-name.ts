// Which names stand for secrets, so that their values are not shown.

export const MASKED = '[masked]'

const secretWords = new Set([
  'password',
  'passwd',
  'passphrase',
  'secret',
  'token',
  'authorization',
  'credentials',
  'apikey',
])
const secretPairs = new Set(['api key', 'private key', 'access key'])

/** Judges the words of a name: `accessToken` and `API_KEY` look secret, `max_tokens` and `keyboard` do not. */
export function looksSecret(name: string): boolean {
  const words = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
  return words.some((word, i) => secretWords.has(word) || secretPairs.has(`${word} ${words[i + 1]}`))
}

/** The same value with every secret in it masked, at any depth. */
export function maskSecrets(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(maskSecrets)
  return maskEntries(value)
}

export const maskEntries = (value: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(value).map(([name, one]) => [name, looksSecret(name) ? MASKED : maskSecrets(one)]))
