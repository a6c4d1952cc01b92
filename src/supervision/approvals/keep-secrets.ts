import { ServerError } from '../../domain/errors.ts'
import { isRecord } from '../../domain/is-record.ts'
import { looksSecret, MASKED, maskSecrets } from '../../domain/text/secret-name.ts'
import { canonicalJson } from '../../json/digest.ts'

/**
 * Whoever edits a call sees its secrets masked. A mask that they leave stands for the secret that was there. Throws `invalid_request` for
 * a mask where the server cannot tell which secret is meant.
 */
export function keepSecrets(edited: Record<string, unknown>, original: unknown): Record<string, unknown> {
  return keepInRecord(edited, original, '/arguments')
}

function keep(edited: unknown, original: unknown, pointer: string): unknown {
  if (Array.isArray(edited)) return keepInList(edited, Array.isArray(original) ? original : [], pointer)
  return isRecord(edited) ? keepInRecord(edited, original, pointer) : edited
}

function keepInRecord(edited: Record<string, unknown>, original: unknown, pointer: string): Record<string, unknown> {
  const before = new Map(isRecord(original) ? Object.entries(original) : [])
  return Object.fromEntries(
    Object.entries(edited).map(([name, value]) => {
      const at = `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
      if (!looksSecret(name) || value !== MASKED) return [name, keep(value, before.get(name), at)]
      if (!before.has(name)) throw unclear(at)
      return [name, before.get(name)]
    }),
  )
}

/** Items of a list may have moved. One that looks as it did is the same one; another keeps the secrets of its old place, if that is free. */
function keepInList(edited: readonly unknown[], original: readonly unknown[], pointer: string): unknown[] {
  if (!edited.some(hasMask)) return [...edited]
  const looks = original.map((one) => canonicalJson(maskSecrets(one)))
  const nowLooks = edited.map((one) => canonicalJson(one))
  return edited.map((item, i) => {
    if (!hasMask(item)) return item
    const look = nowLooks[i] ?? ''
    if (looks[i] === look) return original[i]
    const places = looks.flatMap((one, place) => (one === look ? [place] : []))
    const [place] = places
    if (place !== undefined && places.length === 1) return original[place]
    const isFree = places.length === 0 && edited.length === original.length && !nowLooks.includes(looks[i] ?? '')
    if (!isFree) throw unclear(`${pointer}/${i}`)
    return keep(item, original[i], `${pointer}/${i}`)
  })
}

function hasMask(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasMask)
  if (!isRecord(value)) return false
  return Object.entries(value).some(([name, one]) => (looksSecret(name) && one === MASKED) || hasMask(one))
}

const unclear = (pointer: string): ServerError =>
  new ServerError('invalid_request', 'The server cannot tell which secret a mask stands for.', {
    problems: [{ pointer, detail: `Write the value itself in place of ${MASKED}. Reveal the old one to see it.` }],
  })
