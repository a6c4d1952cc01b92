import { describe, expect, test } from 'vitest'
import { splitCommandLine } from './command-line.ts'

describe('a command line', () => {
  test.each([
    ['npm test', ['npm', 'test']],
    ['  git\tlog  -1 ', ['git', 'log', '-1']],
    [`echo 'a  b' "c d" e\\ f`, ['echo', 'a  b', 'c d', 'e f']],
    [`a"b"'c' ""`, ['abc', '']],
    [`echo "a\\"b" "\\$x" "\\n" 'c\\d'`, ['echo', 'a"b', '$x', '\\n', 'c\\d']],
    [`grep '$(x) | y' "a;b"`, ['grep', '$(x) | y', 'a;b']],
    ['ls *.ts ~ #x a=b', ['ls', '*.ts', '~', '#x', 'a=b']],
  ])('%s is split without a shell', (text, argv) => {
    expect(splitCommandLine(text)).toEqual({ ok: true, argv })
  })

  test.each([
    ['a | b', 'it has |, which only a shell understands'],
    ['a && b', 'it has &, which only a shell understands'],
    ['a; b', 'it has ;, which only a shell understands'],
    ['a > b', 'it has >, which only a shell understands'],
    ['echo $HOME', 'it has $, which only a shell understands'],
    ['echo "$(id)"', 'it has $, which only a shell understands'],
    ['echo "`id`"', 'it has `, which only a shell understands'],
    ['(a)', 'it has (, which only a shell understands'],
    ['a\nb', 'it has a line break or a NUL character'],
    ['a\0b', 'it has a line break or a NUL character'],
    ['a "b', 'a " is never closed'],
    ["a 'b", "a ' is never closed"],
    ['a \\', 'it ends with a backslash'],
    [' ', 'it names no program'],
    ["'' a", 'it names no program'],
  ])('%j is refused with the reason', (text, problem) => {
    expect(splitCommandLine(text)).toEqual({ ok: false, problem })
  })
})
