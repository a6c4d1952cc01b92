import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { loadLanguage } from '../markdown/highlight.ts'
import { coloursOf, sidesOf, tonesOf } from './colours.ts'
import { type DiffLine, parseDiff } from './parse-diff.ts'

const python = await loadLanguage('python')
/** Line 1 opens a text that line 5 closes. The diff begins in the middle of it. */
const file = ['def f():', '  """', '  words', '  more words', '  """', '  run(1)', '  end()']
const diff = '--- a/a.py\n+++ b/a.py\n@@ -4,3 +4,4 @@\n   more words\n   """\n-  go(1)\n+  run(1)\n+  end()\n'
const only = <T>(all: readonly T[]): T => all[0] as T
const parsed = only(parseDiff(diff))
const lines = parsed.entries.filter((entry): entry is DiffLine => entry.type !== 'stretch' && entry.type !== 'note')

test('a file that is known from its first line on is coloured as a whole, on both sides', () => {
  expect(sidesOf(parsed, file)).toEqual({
    old: [...file.slice(0, 5), '  go(1)'],
    now: file,
  })
  const colours = coloursOf(parsed, python, file)
  const tones = lines.map((line) => tonesOf(colours, line).map(({ tone }) => tone))
  expect(tones).toEqual([['string'], ['string'], ['number'], ['number'], []])
})

test('otherwise each line stands for itself: what follows the end of a text does not look like text', () => {
  const colours = coloursOf(parsed, python, null)
  expect([colours.old, colours.now]).toEqual([null, null])
  const tones = lines.map((line) => tonesOf(colours, line).map(({ tone }) => tone))
  expect(tones).toEqual([[], ['string'], ['number'], ['number'], []])
  expect(coloursOf(parsed, python, file.slice(0, 2)).now).toBe(null)
})

test('a side of more than 100,000 characters, and a very long line, cost nothing', () => {
  const long = only(parseDiff(`--- /dev/null\n+++ b/a.py\n@@ -0,0 +1,9000 @@\n${'+run(1234567)\n'.repeat(9_000)}`))
  expect(coloursOf(long, python, null).now).toBe(null)
  const wide: DiffLine = { type: 'add', text: 'run(1) '.repeat(1_000), oldNumber: null, newNumber: 1 }
  expect(tonesOf({ colour: python, old: null, now: null }, wide)).toEqual([])
})

/** The browser paints the colours over the page, where axe does not see them. */
test('letters of code can be read on every colour of a diff, in both themes', () => {
  const css = readFileSync(new URL('../../styles/tokens.css', import.meta.url), 'utf8')
  for (const theme of css.split(':root[data-theme="dark"]').slice(0, 2)) {
    const colours = new Map([...theme.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(([, name, value]) => [name, value]))
    const grounds = ['surface', 'surface-inset', 'diff-add', 'diff-add-word', 'diff-remove', 'diff-remove-word']
    for (const letter of ['keyword', 'string', 'number', 'comment', 'name']) {
      for (const ground of grounds) {
        const [on, under] = [colours.get(`code-${letter}`) ?? '', colours.get(ground) ?? '']
        expect(contrast(on, under), `${letter} on ${ground}`).toBeGreaterThanOrEqual(4.5)
      }
    }
  }
})

function contrast(one: string, other: string): number {
  const light = (hex: string): number => {
    const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
      const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255
      return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const [dark = 0, bright = 0] = [light(one), light(other)].sort((a, b) => a - b)
  return (bright + 0.05) / (dark + 0.05)
}
