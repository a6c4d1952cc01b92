import { describe, expect, test } from 'vitest'
import { createIgnoreRules } from './ignore-rules.ts'

/** Of these paths, those that are ignored. A path that ends with a slash is a folder. */
function ignored(files: Record<string, string>, paths: string[]): string[] {
  const rules = createIgnoreRules(Object.entries(files).map(([folder, text]) => ({ folder, text })))
  return paths.filter((path) => {
    const isFolder = path.endsWith('/')
    const parts = (isFolder ? path.slice(0, -1) : path).split('/')
    return parts.some((name, i) => rules.scopeOf(parts.slice(0, i).join('/'))(name, isFolder || i < parts.length - 1))
  })
}

describe('the rules of .gitignore', () => {
  test.each<[string, string, string[], string[]]>([
    ['a name matches at any depth', 'log', ['log', 'a/log', 'a/log/b'], ['logs', 'a/logs']],
    ['a slash at the start means this folder', '/log', ['log'], ['a/log']],
    ['a slash inside means a path from this folder', 'a/log', ['a/log'], ['log', 'b/a/log']],
    ['a slash at the end means folders', 'log/', ['log/', 'a/log/b'], ['log', 'a/log']],
    ['a star does not cross folders', 'a/*.txt', ['a/b.txt', 'a/.txt'], ['a/b/c.txt', 'b.txt']],
    ['a star in a name', '*.txt', ['b.txt', 'a/b.txt', '.txt'], ['b.txt.md']],
    ['a question mark is one byte', '?.txt', ['b.txt'], ['ab.txt', 'é.txt', '.txt']],
    ['two stars at the start', '**/log', ['log', 'a/log', 'a/b/log'], ['a/blog']],
    ['two stars in the middle', 'a/**/z', ['a/z', 'a/b/z', 'a/b/c/z'], ['az', 'b/a/z', 'a/bz']],
    ['two stars at the end', 'a/**', ['a/b', 'a/b/c'], ['a', 'b']],
    ['two stars beside letters are one star', 'a/x**z', ['a/xyz', 'a/xz'], ['a/x/z']],
    ['a set', '[a-c]x', ['ax', 'cx'], ['dx', 'x']],
    ['a negated set does not match a slash', 'a[!b]c/d', ['axc/d'], ['abc/d', 'a/c/d']],
    ['a bracket in a set', '[]x]', [']', 'x'], ['[']],
    ['a class', '[[:digit:]_]', ['7', '_'], ['a', '[']],
    ['a set without an end matches nothing', '[a', [], ['[a', 'a']],
    ['an unknown class matches nothing', '[[:constructor:]]', [], ['c', ':']],
    ['a backslash makes the next character ordinary', '\\*.txt', ['*.txt'], ['a.txt']],
    ['a backslash before # and !', '\\#a\n\\!b', ['#a', '!b'], ['a', 'b']],
    ['a backslash at the end matches nothing', 'a\\', [], ['a', 'a\\']],
    ['# begins a comment', '# a\n#a', [], ['#a', 'a', ' a']],
    ['spaces at the end do not count', 'a   ', ['a'], ['a   ']],
    ['an escaped space at the end counts', 'a\\ ', ['a '], ['a']],
    ['the last rule wins', '*.txt\n!b.txt', ['a.txt'], ['b.txt', 'x/b.txt']],
    ['nothing comes back in an ignored folder', 'a/\n!a/b', ['a/b'], ['b']],
    ['what an ignored pattern left can come back', 'a/*\n!a/b', ['a/c'], ['a/b']],
    ['lines may end as on Windows', 'a\r\nb\r\n', ['a', 'b'], ['a\r']],
    ['a byte order mark does not count', '\ufeffa', ['a'], []],
    ['names may have any characters', 'é*\nx\u202ey', ['éa', 'x\u202ey'], ['e', 'xy']],
    ['capital letters are others', 'a', ['a'], ['A']],
  ])('%s', (_, text, inside, outside) => {
    expect(ignored({ '': text }, [...inside, ...outside])).toEqual(inside)
  })

  test('the nearest file wins', () => {
    const files = { '': '*.txt', a: '!b.txt\n/c.md', 'a/x': 'b.txt' }

    expect(ignored(files, ['b.txt', 'a/b.txt', 'a/x/b.txt', 'a/c.md', 'a/x/c.md', 'a/z.txt'])).toEqual([
      'b.txt',
      'a/x/b.txt',
      'a/c.md',
      'a/z.txt',
    ])
  })

  test('hostile patterns take no time', () => {
    const text = `${'*a'.repeat(60)}b\n/${'**/'.repeat(60)}z\n${'[!x]*'.repeat(60)}y`

    expect(ignored({ '': text }, ['a'.repeat(255), `${'a/'.repeat(20)}a`])).toEqual([])
  })
})
