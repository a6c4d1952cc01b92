// Colours for code. A chunk of its own: it is loaded with the first block of code whose language is known.

import bash from 'highlight.js/lib/languages/bash'
import css from 'highlight.js/lib/languages/css'
import diff from 'highlight.js/lib/languages/diff'
import javascript from 'highlight.js/lib/languages/javascript'
import json from 'highlight.js/lib/languages/json'
import python from 'highlight.js/lib/languages/python'
import sql from 'highlight.js/lib/languages/sql'
import typescript from 'highlight.js/lib/languages/typescript'
import xml from 'highlight.js/lib/languages/xml'
import yaml from 'highlight.js/lib/languages/yaml'
import { createLowlight } from 'lowlight'

export type CodeTone = 'keyword' | 'string' | 'number' | 'comment' | 'name' | 'added' | 'removed'
export interface CodePiece {
  text: string
  tone: CodeTone | null
}

const lowlight = createLowlight({ bash, css, diff, javascript, json, python, sql, typescript, xml, yaml })

/** The first that fits a class of highlight.js, such as `hljs-built_in`. */
const tones: readonly (readonly [RegExp, CodeTone])[] = [
  [/addition/, 'added'],
  [/deletion/, 'removed'],
  [/comment|meta|doctag|quote/, 'comment'],
  [/string|regexp|char|symbol/, 'string'],
  [/number|literal|bullet/, 'number'],
  [/keyword|built_in|type|selector|tag$/, 'keyword'],
  [/title|attr|name|section|property|variable|params/, 'name'],
]

/** The code in pieces that together are exactly the code. Null: the language is not known. */
export function highlight(code: string, language: string): CodePiece[] | null {
  if (!lowlight.registered(language)) return null
  const pieces: CodePiece[] = []
  function walk(nodes: readonly Node[], tone: CodeTone | null): void {
    for (const node of nodes) {
      if (node.type === 'text') pieces.push({ text: node.value, tone })
      else if (node.type === 'element') walk(node.children, toneOf(node.properties.className) ?? tone)
    }
  }
  walk(lowlight.highlight(language, code).children, null)
  // What one reads and copies must be what the agent wrote.
  return pieces.map(({ text }) => text).join('') === code ? pieces : null
}

type Node = ReturnType<typeof lowlight.highlight>['children'][number]

function toneOf(classes: unknown): CodeTone | null {
  const names = Array.isArray(classes) ? classes.join(' ') : ''
  return tones.find(([pattern]) => pattern.test(names))?.[1] ?? null
}
