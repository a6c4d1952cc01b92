// Counts which letters stand beside each other in each language, and writes `src/files/formats/text/letter-pairs.ts`. It reads what this
// machine has in all of them: the names of countries, languages, currencies, units and days in Node's ICU, the sentences of zod, and the
// texts that the judge of encodings is tuned on.
//
//   node scripts/letter-pairs.ts

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tunedTexts } from '../src/files/formats/text/testing/tuned-texts.ts'

const root = join(import.meta.dirname, '..')

const languages = {
  ...{ de: 'German', fr: 'French', es: 'Spanish', pt: 'Portuguese', it: 'Italian', nl: 'Dutch', ca: 'Catalan' },
  ...{ sv: 'Swedish', da: 'Danish', nb: 'Norwegian', fi: 'Finnish', is: 'Icelandic', et: 'Estonian' },
  ...{ pl: 'Polish', cs: 'Czech', sk: 'Slovak', hu: 'Hungarian', hr: 'Croatian', sl: 'Slovene', ro: 'Romanian' },
  ...{ tr: 'Turkish', lt: 'Lithuanian', lv: 'Latvian' },
  ...{ ru: 'Russian', uk: 'Ukrainian', bg: 'Bulgarian', sr: 'Serbian' },
  ...{ el: 'Greek', he: 'Hebrew', ar: 'Arabic', th: 'Thai' },
}

const alphabet = [...'abcdefghijklmnopqrstuvwxyz']
const twoLetters = alphabet.flatMap((first) => alphabet.map((second) => first + second))
const threeLetters = twoLetters.flatMap((two) => alphabet.map((third) => two + third))

function namesIn(locale: string): string[] {
  const namesOf = (type: 'region' | 'language' | 'currency', codes: readonly string[]): string[] => {
    const names = new Intl.DisplayNames(locale, { type, fallback: 'none' })
    return codes.flatMap((code) => names.of(code) ?? [])
  }
  const unit = (name: string) => new Intl.NumberFormat(locale, { style: 'unit', unit: name, unitDisplay: 'long' })
  const dates = new Intl.DateTimeFormat(locale, { weekday: 'long', month: 'long', day: 'numeric', timeZone: 'UTC' })
  const days = Array.from({ length: 365 }, (_, day) => dates.format(Date.UTC(2026, 0, 1 + day)))
  return [
    ...namesOf(
      'region',
      twoLetters.map((code) => code.toUpperCase()),
    ),
    ...namesOf('language', [...twoLetters, ...threeLetters]),
    ...namesOf('currency', Intl.supportedValuesOf('currency')),
    ...days.filter((_, day) => day % 5 === 0),
    ...Intl.supportedValuesOf('unit').flatMap((name) => [1, 2, 5].map((count) => unit(name).format(count))),
  ]
}

function zodSentences(locale: string): string {
  const path = join(root, `node_modules/zod/v4/locales/${locale === 'nb' ? 'no' : locale}.js`)
  if (!existsSync(path)) return ''
  const strings = readFileSync(path, 'utf8').matchAll(/"([^"\\]{3,})"|`([^`]*)`/g)
  return [...strings].map(([, plain, template = '']) => plain ?? template.replace(/\$\{[^}]*\}/g, ' ')).join('\n')
}

/** These are sentences of everyday life, so they count more than names. */
const TUNED_WEIGHT = 6

function textIn(locale: string, language: string): string {
  const tuned = tunedTexts.filter((one) => one.language === language).flatMap(({ texts }) => texts)
  const text = [...namesIn(locale), zodSentences(locale), `${tuned.join('\n')}\n`.repeat(TUNED_WEIGHT)].join('\n')
  // Old encodings have these Romanian letters with a cedilla only.
  const cedilla: Record<string, string> = { ș: 'ş', ț: 'ţ', Ș: 'Ş', Ț: 'Ţ' }
  return text.replace(/[șțȘȚ]/g, (letter) => cedilla[letter] ?? letter)
}

const FEWEST_BITS = 5
const MOST_BITS = 12
const FEWEST = 3

/** The pairs with a letter beyond ASCII, in groups: the first group has pairs of 5 bits, each next one of a bit more. */
function pairsIn(text: string): string {
  const letters = Array.from(` ${text} `, (one) => (/[\p{L}\p{M}]/u.test(one) ? one.toLowerCase().charAt(0) : '_'))
  const counts = new Map<string, number>()
  let total = 0
  for (const [at, letter] of letters.entries()) {
    const pair = `${letters[at - 1] ?? '_'}${letter}`
    if (pair === '__') continue
    total += 1
    if (/[^\p{ASCII}]/u.test(pair)) counts.set(pair, (counts.get(pair) ?? 0) + 1)
  }
  const groups: string[] = new Array(MOST_BITS - FEWEST_BITS + 1).fill('')
  for (const [pair, count] of [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))) {
    if (count < FEWEST) continue
    const bits = Math.min(MOST_BITS, Math.max(FEWEST_BITS, Math.round(-Math.log2(count / total))))
    groups[bits - FEWEST_BITS] += pair
  }
  return groups.join(' ')
}

const rows = Object.entries(languages).map(
  ([locale, language]) => `  // ${language}\n  ${locale}: '${pairsIn(textIn(locale, language))}',`,
)
writeFileSync(
  join(root, 'src/files/formats/text/letter-pairs.ts'),
  `// Written by \`scripts/letter-pairs.ts\`. For each language: pairs of letters, of which at least one is not ASCII. The first group has the
// pairs that are one in 2⁵ of all pairs of the language, the next one in 2⁶, and so on. \`_\` is all that is not a letter.

export const letterPairs = {
${rows.join('\n')}
}
`,
)
