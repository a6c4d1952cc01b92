// Downloads and decoded texts: what one part of a line gives to another that may run it.

import { forEachChild, type SyntaxNode } from 'unbash'
import { SOURCES_OF_CODE } from './programs.ts'
import { type Known, wordsOf } from './shell-words.ts'

/** Whether a part gives a download or a decoded text to the next one. `known`: of the parts that were asked about before. */
export function givesCode(node: SyntaxNode, words: Known, known: Map<SyntaxNode, boolean>): boolean {
  let found = known.get(node)
  if (found !== undefined) return found
  found = false
  if (node.type === 'Command') {
    const names = wordsOf(node, words).map(({ text }) => text.slice(text.lastIndexOf('/') + 1).toLowerCase())
    const isEncoded =
      /^(?:printf|echo)$/.test(names[0] ?? '') && names.some((name) => /\\(?:x|u|0?[0-7]{2,3})/.test(name))
    found = isEncoded || names.some((name) => SOURCES_OF_CODE.has(name))
  }
  forEachChild(node, (child) => {
    found = givesCode(child, words, known) || found
  })
  known.set(node, found)
  return found
}

/** Whether a word or the input of a command comes from a part that gives code. */
export function takesCode(node: SyntaxNode, words: Known, known: Map<SyntaxNode, boolean>): boolean {
  let found = false
  forEachChild(node, (child) => {
    const isPart = child.type === 'CommandExpansion' || child.type === 'ProcessSubstitution'
    found ||=
      (isPart || known.get(child) === true) &&
      (isPart ? givesCode(child, words, known) : takesCode(child, words, known))
  })
  return found
}
