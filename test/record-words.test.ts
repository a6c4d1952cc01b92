// A record is described once: no word of its view stands in another folder.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const HOME = 'src/supervision/records'
/** Where the words of views are written. */
const SOURCES = [`${HOME}/kinds`]
/** What else has these words: spans of a run, a service that does not answer, the steps of a session. */
const OTHERS_SAY = ['Tool call', 'No answer', 'Its own list of steps']

interface Literal {
  file: string
  line: number
  text: string
}

const COMMENT = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm
/** Strings, the fixed parts of templates, and texts of JSX. */
const LITERAL = /(?<=['"`}>])[^'"`{}<>$\n]+(?=['"`<]|\$\{)/g

function literalsIn(file: string): Literal[] {
  // Lines stay, so that a find can be named by its line.
  const code = readFileSync(file, 'utf8').replaceAll(COMMENT, (comment) => comment.replaceAll(/[^\n]/g, ' '))
  return code
    .split('\n')
    .flatMap((text, at) => [...text.matchAll(LITERAL)].map(([found]) => ({ file, line: at + 1, text: found.trim() })))
}

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((path) => join(folder, path).replaceAll('\\', '/'))
    .filter((path) => /\.tsx?$/.test(path) && !/\.test\.tsx?$|\/testing\/|\.contract\.ts$/.test(path))

/** Of one word, such as `Approve`, nobody can say whose it is. */
const isPhrase = (text: string): boolean => /[\p{L}\d]\s+[\p{L}\d]/u.test(text) && text.length > 8

const words = new Set(
  SOURCES.flatMap(filesIn)
    .flatMap(literalsIn)
    .map(({ text }) => text)
    .filter((text) => isPhrase(text) && !OTHERS_SAY.includes(text)),
)

test('the words of views are read', () => {
  const some = ['Question from an agent', 'Agent stands by', 'asks whether to go on', 'Recovered by itself']
  expect([...some, 'In the agent’s words', 'Let the agent go on?'].filter((text) => !words.has(text))).toEqual([])
})

test.each(['src/cli', 'src', 'console/src'])('no word of a view stands in %s', (folder) => {
  const strays = filesIn(folder)
    .filter((file) => !file.startsWith(`${HOME}/`))
    .flatMap(literalsIn)
    .filter(({ text }) => words.has(text))
    .map(({ file, line, text }) => `${file}:${line} ${text}`)

  expect(strays).toEqual([])
})
