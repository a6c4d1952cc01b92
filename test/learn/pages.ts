// The pages of the shelf Learn, as the steps that a reader takes. The words after three backticks say what a block is:
//
//   ```yaml file=agent.yaml     a whole file, in the folder where the reader is
//   ```yaml add=agent.yaml      goes to the end of the file
//   ```yaml end=agent.yaml      replaces the end of the file, from the line that is the first of the block
//   ```sh                       commands at a terminal. `fails`: the last one ends with another code than 0
//   ```sh terminal=server       a command in a terminal of its own, where it goes on until the terminal gets another one or the part ends
//   ```sh install               how the program gets here from the registry; `clone`: from a clone. Only one of them is run
//   ```text                     what the reader sees after the command above; `terminal=server`: in that terminal
//   ```text page                what a web page shows after the steps above it
//
// A block that ends with `illustration` is not run. A fragment of YAML without a file is one, too: test/docs.test.ts reads it.

import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

export type Step = { page: string; line: number; text: string } & (
  | { kind: 'file'; path: string; how: 'file' | 'add' | 'end' }
  | { kind: 'command'; terminal: string | null; only: 'packed' | 'clone' | null; fails: boolean }
  | { kind: 'output'; terminal: string | null }
  | { kind: 'page' }
)

const root = join(import.meta.dirname, '../..')

/** In the order in which they are read. */
export const parts: readonly string[] = globSync('docs/learn/*.md', { cwd: root }).toSorted()

export const readPart = (part: string): string => readFileSync(join(root, part), 'utf8')

/** Throws if the marks of a block are not known. */
export function stepsOf(part: string): Step[] {
  const page = readPart(part)
  return [...page.matchAll(/^```([^\n]*)\n([\s\S]*?)^```$/gm)].flatMap(({ 1: marks = '', 2: text = '', index }) => {
    const step = { page: basename(part), line: page.slice(0, index).split('\n').length, text }
    const [language = '', ...rest] = marks.split(' ')
    if (rest.at(-1) === 'illustration') return []
    const found = stepFrom(language, new Set(rest))
    if (found === null) throw new Error(`${part}:${step.line}: nobody knows what to do with “${marks}”.`)
    return found === 'fragment' ? [] : [{ ...step, ...found }]
  })
}

type Kind = Step extends infer One ? (One extends Step ? Omit<One, 'page' | 'line' | 'text'> : never) : never

function stepFrom(language: string, marks: Set<string>): Kind | 'fragment' | null {
  const take = (name: string): string | null => {
    const found = [...marks].find((mark) => mark.startsWith(`${name}=`))
    if (found !== undefined) marks.delete(found)
    return found?.slice(name.length + 1) ?? null
  }
  const has = (name: string): boolean => marks.delete(name)
  const terminal = take('terminal')
  const all = (kind: Kind): Kind | null => (marks.size === 0 ? kind : null)
  for (const how of ['file', 'add', 'end'] as const) {
    const path = take(how)
    if (path === null) continue
    // These are for test/docs.test.ts.
    for (const mark of ['settings', 'other', 'script']) has(mark)
    return all({ kind: 'file', path, how })
  }
  switch (language) {
    case 'sh': {
      const only = has('install') ? 'packed' : has('clone') ? 'clone' : null
      return all({ kind: 'command', terminal, only, fails: has('fails') })
    }
    case 'text':
      return has('page') ? all({ kind: 'page' }) : all({ kind: 'output', terminal })
    case 'yaml':
      return 'fragment'
    default:
      return null
  }
}

/** The text of a file after the step. `before` is what it has; empty if there is none. */
export function fileAfter({ how, text, path }: Step & { kind: 'file' }, before: string): string {
  if (how === 'file') return text
  if (how === 'add') return before + text
  const [first = ''] = text.split('\n')
  const at = `\n${before}`.lastIndexOf(`\n${first}\n`)
  if (at === -1) throw new Error(`${path} has no line “${first}”.`)
  return before.slice(0, at) + text
}
