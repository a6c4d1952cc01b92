// Text that a reviewer would overlook, or take for another one.

import { hiddenMark, hidesCharacters, visibleText } from '../../domain/visible-text.ts'

/** Code is indented, so only what no editor shows at once counts as padding. */
const PADDING = / {200}|\t{60}/
/** A carriage return inside a line: a terminal then writes over what came before it. */
const OVERWRITE = /\r(?!\n?$)/

/** Whether added lines hide something: characters that fonts do not draw, overwritten text, or text moved out of sight by spaces. */
export const linesHideText = (lines: readonly string[]): boolean =>
  lines.some((line) => PADDING.test(line) || OVERWRITE.test(line)) || hidesCharacters(lines)

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
