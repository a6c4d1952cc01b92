// Colours for code. A chunk of its own, and each language another: they are loaded with the first code in that language.

import { createLowlight } from 'lowlight'
import type { Language } from './languages.ts'

export type CodeTone = 'keyword' | 'string' | 'number' | 'comment' | 'name' | 'added' | 'removed'
export interface CodePiece {
  text: string
  tone: CodeTone | null
}

const loaders = {
  bash: () => import('highlight.js/lib/languages/bash'),
  c: () => import('highlight.js/lib/languages/c'),
  cpp: () => import('highlight.js/lib/languages/cpp'),
  csharp: () => import('highlight.js/lib/languages/csharp'),
  css: () => import('highlight.js/lib/languages/css'),
  diff: () => import('highlight.js/lib/languages/diff'),
  dockerfile: () => import('highlight.js/lib/languages/dockerfile'),
  go: () => import('highlight.js/lib/languages/go'),
  ini: () => import('highlight.js/lib/languages/ini'),
  java: () => import('highlight.js/lib/languages/java'),
  javascript: () => import('highlight.js/lib/languages/javascript'),
  json: () => import('highlight.js/lib/languages/json'),
  kotlin: () => import('highlight.js/lib/languages/kotlin'),
  makefile: () => import('highlight.js/lib/languages/makefile'),
  markdown: () => import('highlight.js/lib/languages/markdown'),
  php: () => import('highlight.js/lib/languages/php'),
  python: () => import('highlight.js/lib/languages/python'),
  ruby: () => import('highlight.js/lib/languages/ruby'),
  rust: () => import('highlight.js/lib/languages/rust'),
  scss: () => import('highlight.js/lib/languages/scss'),
  sql: () => import('highlight.js/lib/languages/sql'),
  swift: () => import('highlight.js/lib/languages/swift'),
  typescript: () => import('highlight.js/lib/languages/typescript'),
  xml: () => import('highlight.js/lib/languages/xml'),
  yaml: () => import('highlight.js/lib/languages/yaml'),
} satisfies Record<Language, unknown>

const lowlight = createLowlight()

/** The first that fits a class of highlight.js, such as `hljs-built_in`. */
const tones: readonly (readonly [RegExp, CodeTone])[] = [
  [/addition/, 'added'],
  [/deletion/, 'removed'],
  [/comment|doctag|quote/, 'comment'],
  [/string|regexp|char|symbol/, 'string'],
  [/number|literal|bullet/, 'number'],
  [/keyword|built_in|type|selector|tag$|meta/, 'keyword'],
  [/title|attr|name|section|property|variable|params/, 'name'],
]

/** The code in pieces that together are exactly the code. Null: it cannot be coloured. */
export type Colour = (code: string) => CodePiece[] | null

export async function loadLanguage(language: Language): Promise<Colour> {
  if (!lowlight.registered(language)) lowlight.register(language, (await loaders[language]()).default)
  return (code) => highlight(code, language)
}

function highlight(code: string, language: Language): CodePiece[] | null {
  const pieces: CodePiece[] = []
  function walk(nodes: readonly Node[], tone: CodeTone | null): void {
    for (const node of nodes) {
      if (node.type === 'text') pieces.push({ text: node.value, tone })
      else if (node.type === 'element') walk(node.children, toneOf(node.properties.className, tone))
    }
  }
  walk(lowlight.highlight(language, code).children, null)
  // What one reads and copies must be what the agent wrote.
  return pieces.map(({ text }) => text).join('') === code ? pieces : null
}

type Node = ReturnType<typeof lowlight.highlight>['children'][number]

/** Code inside of a string, such as `${run()}`, runs: it must not look like the string. */
function toneOf(classes: unknown, around: CodeTone | null): CodeTone | null {
  const names = Array.isArray(classes) ? classes.join(' ') : ''
  if (names.includes('subst')) return null
  return tones.find(([pattern]) => pattern.test(names))?.[1] ?? around
}
