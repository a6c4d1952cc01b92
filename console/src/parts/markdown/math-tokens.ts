// Formulas in Markdown: `$$…$$` and `\[…\]`, `\(…\)`, and `$…$` where it cannot be money or a variable of a shell.

import type { MarkedOptions, TokenizerExtensionFunction, Tokens } from 'marked'

export interface MathToken extends Tokens.Generic {
  type: 'math'
  raw: string
  tex: string
  isBlock: boolean
}

export const isMath = (token: { type: string }): token is MathToken => token.type === 'math'

/** A gap ends it: until the end has come, nobody knows that it is a formula, and what was read before must not change. */
const BLOCK =
  /^ {0,3}(?:\$\$((?:(?!\$\$|\n[ \t]*\n)[\s\S]){1,2000})\$\$|\\\[((?:(?!\\\]|\n[ \t]*\n)[\s\S]){1,2000})\\\])[ \t]*(?:\n+|$)/
const INLINE = /^(?:\$\$((?:(?!\$\$)[^\n])+)\$\$|\\\[((?:(?!\\\])[^\n])+)\\\]|\\\(((?:(?!\\\))[\s\S])+)\\\))/
const DOLLAR = /^\$(?![\s$])((?:\\.|[^\\$\n`])*[^\\$\s`])\$(?![\d\w$])/
const START = /\$|\\[([]/
/** What only a formula has, or a single letter or number with a sign. */
const LIKE_MATH = /[\\^_{}=<>+]|^[-+]?\w$|^\w[-*/]\w$|^\w\(\w(?:,\s?\w)*\)$/

const token = (raw: string, tex: string | undefined, isBlock: boolean): MathToken | undefined =>
  tex === undefined || tex.trim() === '' ? undefined : { type: 'math', raw, tex: tex.trim(), isBlock }

const block: TokenizerExtensionFunction = (src) => {
  const found = BLOCK.exec(src)
  return found === null ? undefined : token(found[0], found[1] ?? found[2], true)
}

const inline: TokenizerExtensionFunction = (src) => {
  const found = INLINE.exec(src)
  if (found !== null) return token(found[0], found[1] ?? found[2] ?? found[3], found[3] === undefined)
  const dollar = DOLLAR.exec(src)
  return dollar !== null && LIKE_MATH.test(dollar[1] ?? '') ? token(dollar[0], dollar[1], false) : undefined
}

/** Where a paragraph has to end because a formula follows. What only looks like one does not end it, and nobody looks for ever. */
function nextBlock(src: string): number | undefined {
  const gap = src.search(/\n[ \t]*\n/)
  const paragraph = gap === -1 ? src : src.slice(0, gap + 1)
  let tries = 20
  for (const { index } of paragraph.matchAll(/\n(?= {0,3}(?:\$\$|\\\[))/g)) {
    if (
      (
        BLOCK.exec(paragraph.slice(index + 1))
          ?.slice(1)
          .join('') ?? ''
      ).trim() !== ''
    )
      return index + 1
    tries -= 1
    if (tries === 0) break
  }
  return undefined
}

const extensions: NonNullable<MarkedOptions['extensions']> = {
  renderers: {},
  childTokens: {},
  block: [block],
  inline: [inline],
  startBlock: [nextBlock],
  startInline: [(src) => src.search(START)],
}

/** For the lexer. Most texts have no formula, and need not be searched for one at every block. */
export const mathIn = (text: string): typeof extensions | null => (START.test(text) ? extensions : null)
