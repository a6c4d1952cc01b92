// Letters that look like others: `pаypal.com` with a Cyrillic letter is not `paypal.com`.

import { hiddenMark, visibleText } from './visible-text.ts'

/** Letters of other scripts that look like Latin ones. */
const LOOKALIKE =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}\p{Script=Lisu}]/u
const LATIN = /\p{Script=Latin}/u
/** The letters among them that could spell a whole Latin word. */
const ONLY_LOOKALIKES = /^[аеорсухіјѕԁһԛԝкмнтвгпАВЕЗКМНОРСТУХІЈЅԌαινορτυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧ]+$/u
/** Latin letters that look like plain ones: `ɑ`, `ɡ`, and those of full width or of mathematics. */
const DISGUISED_LATIN = /[ɑɡ]/u

/**
 * Marks letters in a path that look like others: `src/<U+0430>pp.ts`. Names in one script stay as they are, unless every letter could be
 * taken for a Latin one.
 */
export function shownPath(path: string): string {
  return visibleText(path)
    .replace(/[\p{L}\p{M}\p{N}]+/gu, (word) => {
      const isMixed = LATIN.test(word) && LOOKALIKE.test(word)
      const isDisguised = ONLY_LOOKALIKES.test(word.replaceAll(/\p{N}/gu, ''))
      return [...word].map((char) => (isLookalike(char, isMixed || isDisguised) ? hiddenMark(char) : char)).join('')
    })
    .replace(/[^\p{ASCII}\p{L}\p{M}\p{N}]/gu, (char) =>
      isPlainAscii(char.normalize('NFKC')) ? hiddenMark(char) : char,
    )
}

function isLookalike(char: string, isDoubtful: boolean): boolean {
  if (LOOKALIKE.test(char)) return isDoubtful
  return DISGUISED_LATIN.test(char) || (!isPlainAscii(char) && isPlainAscii(char.normalize('NFKC')))
}

const isPlainAscii = (text: string): boolean => /^[ -~]+$/.test(text)

/** What stands between the parts of hosts, paths, addresses and command lines. */
const TOKEN = /[^\s"'`<>(){}[\],;|&=]+/g
/** A host, a path or an address has one of these inside. */
const PLACE = /[/\\@]|[\p{L}\p{N}]\.[\p{L}\p{N}]/u
const WORD = /[\p{L}\p{M}\p{N}]+/gu
const GREEK_LETTERS = /\p{Script=Greek}/gu
/** Letters of full width or of mathematics, and signs that are drawn like `.`, `/` and `@`. */
const DISGUISED = /(?=[\p{Lu}\p{Ll}])[^\p{ASCII}]/gu
const FAKE_SIGN = /[a-z\d][\u2024\u2044\u2215\u29f8\ufe52\uff0e\uff0f\uff20][a-z\d]/i
/** Everything else needs no closer look. */
const LOOK_TWICE = /[^\p{ASCII}]/u
const MOST_WARNINGS = 5
/** Then nobody counts any more. */
const MOST_FOUND = 1_000
const MOST_SHOWN = 200

/**
 * Warns of words in `value`, at any depth and including names, that a person would read as other words. Hosts, paths and addresses are
 * judged strictly. In prose only a word that mixes the letters of two alphabets counts, and physicists may mix Greek with Latin.
 */
export function lookalikeWarnings(value: unknown): string[] {
  const found = new Set<string>()
  const left = [value]
  while (left.length > 0 && found.size < MOST_FOUND) {
    const next = left.pop()
    if (typeof next === 'string') {
      if (!LOOK_TWICE.test(next)) continue
      for (const [token] of next.matchAll(TOKEN)) {
        if (LOOK_TWICE.test(token) && misleads(token)) found.add(token)
        if (found.size >= MOST_FOUND) break
      }
    } else if (typeof next === 'object' && next !== null) {
      for (const [name, inner] of Object.entries(next).reverse()) left.push(inner, name)
    }
  }
  const warnings = [...found]
    .slice(0, MOST_WARNINGS)
    .map((token) => `Look closely: "${shortened(shownPath(token))}" has letters that look like others.`)
  const more = found.size - warnings.length
  return more > 0 ? [...warnings, `So have ${more} more${found.size < MOST_FOUND ? '' : ', or even more'}.`] : warnings
}

function misleads(token: string): boolean {
  const isPlace = PLACE.test(token)
  // Every address begins with a scheme in Latin letters.
  const hasLatin = LATIN.test(token.replace(/^[a-z][a-z\d+.-]*:\/\//i, ''))
  for (const [word] of token.matchAll(WORD)) {
    if (!LOOKALIKE.test(word)) continue
    if (LATIN.test(word) && (isPlace || LOOKALIKE.test(word.replaceAll(GREEK_LETTERS, '')))) return true
    if (isPlace && hasLatin && ONLY_LOOKALIKES.test(word.replaceAll(/\p{N}/gu, ''))) return true
  }
  if (!isPlace) return false
  return FAKE_SIGN.test(token) || (token.match(DISGUISED) ?? []).some((char) => isLookalike(char, false))
}

const shortened = (text: string): string =>
  text.length <= MOST_SHOWN
    ? text
    : `${text.slice(0, MOST_SHOWN).toWellFormed()}… (${text.length - MOST_SHOWN} more characters)`
